/** The files of a commit: paths with object ids and sizes. Nothing is checked out, so names are only names and links lead nowhere. */
import { Turns } from "../engine/index.ts";
import { GitError } from "./git-error.ts";
import { git } from "./git-process.ts";

interface TreeEntry {
  readonly path: string;
  readonly oid: string;
  readonly bytes: number;
  readonly kind: "file" | "link";
}

export interface Tree {
  readonly entries: readonly TreeEntry[];
  /** Paths of submodules: another repository's affair. */
  readonly submodules: readonly string[];
}

const filesMax = 2_000_000;
const TAB = 0x09;

export async function readTree(
  folder: string,
  commit: string,
  what: string,
  signal?: AbortSignal,
): Promise<Tree> {
  const listing = await git(["ls-tree", "-r", "-z", "--long", "--full-tree", commit], {
    folder,
    what,
    signal,
    outputBytesMax: 512 << 20,
  });
  return parseTree(listing, what);
}

/** `mode type oid size<tab>path<nul>`, where the path is any bytes but nul. */
async function parseTree(listing: Buffer, what: string): Promise<Tree> {
  const turns = new Turns();
  const entries: TreeEntry[] = [];
  const submodules: string[] = [];
  for (let at = 0; at < listing.length;) {
    const end = listing.indexOf(0, at);
    const tab = listing.indexOf(TAB, at);
    if (end < 0 || tab < 0 || tab > end)
      throw new GitError("GIT_FAILED", `${what}: its listing of files cannot be read`);
    const [mode = "", type = "", oid = "", size = ""] = listing.toString("latin1", at, tab).split(/ +/);
    // Bytes that are no UTF-8 become replacement characters: such a file is found and shown, under a name that says so.
    const path = listing.toString("utf8", tab + 1, end);
    if (type === "commit") submodules.push(path);
    else if (type === "blob")
      entries.push({ path, oid, bytes: Number(size), kind: mode === "120000" ? "link" : "file" });
    if (entries.length > filesMax)
      throw new GitError("REPOSITORY_TOO_LARGE", `${what}: it has more than ${filesMax} files`);
    at = end + 1;
    if (turns.due) await turns.give();
  }
  return { entries, submodules };
}
