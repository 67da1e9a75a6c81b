/**
 * The branches of a repository in a folder, read from its files without starting git: looking for new commits in hundreds of folders costs little then. It reads what git writes by default; what
 * it does not know (other ref storages, refs that lead to refs, hidden ones, links, damage) it leaves to git, by saying nothing.
 */
import { lstat, readFile, readdir, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { headsOf, OID, type RemoteHeads } from "./heads.ts";

/** Beyond these, git does it better. */
const looseMax = 2_000;
const depthMax = 16;
const packedBytesMax = 16 << 20;
const noteBytesMax = 64 << 10;
/** What a repository may say that changes which refs there are, or where. */
const UNKNOWN_TO_US = /refstorage|hiderefs|worktreeconfig|\[include/i;
const HEADS = "refs/heads/";
const PACKED_HEAD = Buffer.from(` ${HEADS}`);
const LINE_END = 0x0a;
/** What git takes for no part of a branch's name, and names that are no UTF-8. */
const ODD_NAME = /^\.|[\s~^:?*[\\\ufffd]|\.\.|@\{|\.$/;

interface Packed {
  readonly stamp: string;
  readonly branches: ReadonlyMap<string, string>;
}

export class FolderRefs {
  /** By path: what was read last, which in most repositories never changes. */
  readonly #packed = new Map<string, Packed>();
  /** Of all that is kept. */
  #branches = 0;
  readonly #keptBranchesMax: number;

  constructor(keptBranchesMax = 100_000) {
    this.#keptBranchesMax = keptBranchesMax;
  }

  /** Undefined when git should be asked. */
  async read(path: string): Promise<RemoteHeads | undefined> {
    try {
      const folder = await gitFolder(path);
      const common = await commonFolder(folder);
      const config = await text(join(common, "config"));
      if (config === undefined || UNKNOWN_TO_US.test(config)) return undefined;
      const head = (await text(join(folder, "HEAD")))?.trim();
      // Those of their own first: git packs one before it removes it.
      const loose = new Map<string, string>();
      if (!(await readLoose(join(common, "refs", "heads"), "", loose, 0))) return undefined;
      const packed = await this.#readPacked(join(common, "packed-refs"));
      if (head === undefined || !packed) return undefined;
      return combined(head, new Map([...packed, ...loose]));
    } catch (error) {
      // Not there, not ours to read, or changing: git says what is wrong with it.
      if ((error as NodeJS.ErrnoException).code !== undefined) return undefined;
      throw error;
    }
  }

  async #readPacked(path: string): Promise<ReadonlyMap<string, string> | undefined> {
    const found = await stat(path).catch((error: unknown) => {
      if (isAbsent(error)) return undefined;
      throw error;
    });
    if (!found) return new Map();
    if (!found.isFile() || found.size > packedBytesMax) return undefined;
    const stamp = `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
    const known = this.#packed.get(path);
    if (known?.stamp === stamp) return known.branches;
    const branches = packedBranches(await readFile(path));
    if (branches) this.#keep(path, { stamp, branches });
    return branches;
  }

  #keep(path: string, packed: Packed): void {
    this.#forget(path);
    // A repository without packed branches has its place too.
    this.#branches += packed.branches.size + 1;
    this.#packed.set(path, packed);
    for (const oldest of this.#packed.keys()) {
      if (this.#branches <= this.#keptBranchesMax) return;
      this.#forget(oldest);
    }
  }

  #forget(path: string): void {
    const kept = this.#packed.get(path);
    if (kept && this.#packed.delete(path)) this.#branches -= kept.branches.size + 1;
  }
}

/** Undefined when it is damaged. Takes no part of a text that is cut, which would keep all of it: most of what is packed are no branches. */
function packedBranches(bytes: Buffer): ReadonlyMap<string, string> | undefined {
  if (bytes.length > 0 && bytes.at(-1) !== LINE_END) return undefined;
  const branches = new Map<string, string>();
  for (let at = bytes.indexOf(PACKED_HEAD); at >= 0; at = bytes.indexOf(PACKED_HEAD, at + 1)) {
    const oid = bytes.toString("latin1", bytes.lastIndexOf(LINE_END, at) + 1, at);
    if (!OID.test(oid)) return undefined;
    branches.set(bytes.toString("utf8", at + PACKED_HEAD.length, bytes.indexOf(LINE_END, at)), oid);
  }
  return branches;
}

function combined(head: string, branches: ReadonlyMap<string, string>): RemoteHeads | undefined {
  if (OID.test(head)) return headsOf(undefined, head, branches);
  const target = /^ref: (\S+)$/.exec(head)?.[1];
  if (target === undefined || !target.startsWith(HEADS)) return undefined;
  const name = target.slice(HEADS.length);
  const commit = branches.get(name);
  return headsOf(commit === undefined ? undefined : name, commit, branches);
}

/** A folder `.git`, or where a file of that name leads (worktrees, submodules), or the folder itself when it is bare. */
async function gitFolder(path: string): Promise<string> {
  const inside = join(path, ".git");
  const found = await stat(inside).catch(() => undefined);
  if (!found) return path;
  if (found.isDirectory()) return inside;
  const target = /^gitdir: (.*?)\s*$/.exec((await text(inside)) ?? "")?.[1];
  return target === undefined ? path : isAbsolute(target) ? target : resolve(path, target);
}

async function commonFolder(folder: string): Promise<string> {
  const common = (await text(join(folder, "commondir")))?.trim();
  return common === undefined ? folder : resolve(folder, common);
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Undefined when it is not there. Throws when it is no file of git's: who reads a pipe waits for ever. */
async function text(path: string): Promise<string | undefined> {
  try {
    const found = await lstat(path);
    if (!found.isFile() || found.size > noteBytesMax)
      throw Object.assign(new Error(`${path} is not what git writes`), { code: "UNUSUAL_FILE" });
    return await readFile(path, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** False when there is something that git should look at. */
async function readLoose(
  folder: string,
  prefix: string,
  into: Map<string, string>,
  depth: number,
): Promise<boolean> {
  if (depth > depthMax) return false;
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsent(error) && depth > 0) return [];
    throw error;
  });
  for (const entry of entries) {
    if (into.size > looseMax || ODD_NAME.test(entry.name)) return false;
    const path = join(folder, entry.name);
    const name = prefix + entry.name;
    if (entry.isDirectory()) {
      if (!(await readLoose(path, `${name}/`, into, depth + 1))) return false;
    } else if (!entry.name.endsWith(".lock")) {
      if (!entry.isFile()) return false;
      const oid = (await text(path))?.trim();
      // It was removed or packed meanwhile.
      if (oid === undefined) continue;
      if (!OID.test(oid)) return false;
      into.set(name, oid);
    }
  }
  return true;
}
