/**
 * One repository's clone on this node: bare, shallow, with just the wanted branches. Fetched from a mirror when that has the very commits, else from the
 * remote itself. A folder that is no repository is taken as it is, as if it had been committed.
 */
import { existsSync, statSync } from "node:fs";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BoundCredential, Credentials } from "./credentials.ts";
import { GitError } from "./git-error.ts";
import { git, localUploadPack } from "./git-process.ts";
import type { FolderRefs } from "./folder-refs.ts";
import { chooseHeads, DETACHED, listHeads, type Head, type RemoteHeads } from "./heads.ts";
import type { HostTurns } from "./host-turns.ts";
import type { HttpRefs } from "./http-refs.ts";
import type { Remote } from "./remote.ts";

export interface CloneOptions {
  readonly folder: string;
  readonly remote: Remote;
  /** Patterns; the default branch when empty. */
  readonly branches: readonly string[];
  readonly credentials: Credentials;
  /** A folder or address that has `<name>.git` of many repositories. */
  readonly mirror?: string | undefined;
  readonly timeoutMs: number;
  /** How remotes are asked without a process. */
  readonly refs: { readonly folder: FolderRefs; readonly http: HttpRefs };
  /** Whoever asks a server waits for its turn there. */
  readonly turns: HostTurns;
}

/** A server that does not say within this what it has is not waited for: there is little to say. */
const lookMsMax = 30_000;
/** Fetches that add a pack each; beyond, the packs are made one. */
const packsMax = 20;
/** Of an object's id, where it is not SHA-1's. */
const SHA256_DIGITS = 64;
/** Branches whose name can be looked for as a file. */
const PLAIN_BRANCH = /^\w[\w./-]*$/;

export class Clone {
  readonly folder: string;
  /** Branches that are wanted by name, and were not there when the remote was last asked. */
  missing: readonly string[] = [];
  readonly #options: CloneOptions;
  readonly #what: string;

  constructor(options: CloneOptions) {
    this.#options = options;
    this.folder = options.folder;
    this.#what = options.remote.name;
  }

  /** Which commits the wanted branches are at, as the remote says now. */
  async look(signal?: AbortSignal): Promise<Head[]> {
    const { remote, branches, turns } = this.#options;
    const timeoutMs = Math.min(this.#options.timeoutMs, lookMsMax);
    if (remote.kind === "folder" && !isRepository(remote.url)) {
      if (!existsSync(remote.url) || !statSync(remote.url).isDirectory())
        throw new GitError(
          "NOT_A_REPOSITORY",
          `${this.#what}: there is no folder ${remote.url}: check the path`,
        );
      await this.#create();
      const commit = await turns.run(remote.host, () => this.#snapshot(remote.url, signal), signal);
      return [{ branch: "HEAD", commit }];
    }
    const what = this.#what;
    const listed = (): ReturnType<typeof listHeads> =>
      this.#authenticated((credential) => listHeads(remote.url, { what, credential, signal, timeoutMs }));
    const heads =
      (await turns.ask(remote.host, () => this.#lookQuickly(timeoutMs, signal), signal)) ??
      (await turns.run(remote.host, listed, signal));
    if (heads.branches.size === 0 && this.#options.refs.http.isPage(remote.url))
      throw new GitError(
        "NOT_A_REPOSITORY",
        `${what}: there is no repository (the server answers with a page for people): check the address`,
      );
    const chosen = chooseHeads(heads, branches, what);
    this.missing = chosen.missing;
    return chosen.heads;
  }

  /** Without a process, where that can be. */
  #lookQuickly(timeoutMs: number, signal: AbortSignal | undefined): Promise<RemoteHeads | undefined> {
    const { remote, refs } = this.#options;
    if (remote.kind === "folder") return refs.folder.read(remote.url);
    if (remote.kind !== "http") return Promise.resolve(undefined);
    return this.#authenticated((credential) =>
      refs.http.read(remote.url, { what: this.#what, credential, signal, timeoutMs }),
    );
  }

  /** Makes sure that the commits are here. */
  async fetch(heads: readonly Head[], signal?: AbortSignal): Promise<void> {
    if (heads.length === 0) return;
    const isNew = await this.#create(heads[0]?.commit.length === SHA256_DIGITS ? "sha256" : "sha1");
    const missing: Head[] = [];
    for (const head of heads) if (isNew || !(await this.#has(head.commit))) missing.push(head);
    if (missing.length === 0) return;
    const { remote, turns } = this.#options;
    if (!(await this.#fetchFromMirror(missing, signal)))
      await turns.run(remote.host, () => this.#fetchFromRemote(missing, signal), signal);
    for (const head of missing)
      if (!(await this.#fetched(head)) && !(await this.#has(head.commit)))
        throw new GitError(
          "UNREACHABLE",
          `${this.#what}: ${head.branch} moved while it was fetched; it is tried again`,
        );
    await this.#pack(signal);
  }

  /** Throws the clone away: it is damaged, or not needed any more. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #fetchFromMirror(heads: readonly Head[], signal: AbortSignal | undefined): Promise<boolean> {
    const { mirror, remote, timeoutMs, turns } = this.#options;
    if (mirror === undefined) return false;
    const url = `${mirror.replace(/\/+$/, "")}/${remote.name}.git`;
    const fetched = async (): Promise<boolean> => {
      const looking = { what: this.#what, signal, timeoutMs: Math.min(timeoutMs, lookMsMax) };
      const there = await listHeads(url, looking);
      if (!heads.every(({ branch, commit }) => there.branches.get(branch) === commit)) return false;
      await this.#fetchFrom(url, heads, undefined, signal);
      return true;
    };
    try {
      // All of a mirror is one server, or one folder.
      return await turns.run(mirror, fetched, signal);
    } catch (error) {
      // A mirror only saves work: without it the remote is asked.
      if (error instanceof GitError && error.code !== "CANCELLED") return false;
      throw error;
    }
  }

  async #fetchFromRemote(heads: readonly Head[], signal: AbortSignal | undefined): Promise<void> {
    await this.#authenticated((credential) =>
      this.#fetchFrom(this.#options.remote.url, heads, credential, signal),
    );
  }

  async #fetchFrom(
    url: string,
    heads: readonly Head[],
    credential: BoundCredential | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const refs = heads.map(({ branch }) => {
      const there = branch === DETACHED ? DETACHED : `refs/heads/${branch}`;
      return `+${there}:refs/heads/${branch}`;
    });
    const how = ["--quiet", "--depth=1", "--no-tags", "--update-head-ok", ...localUploadPack(url)];
    await git(["fetch", ...how, "--", url, ...refs], {
      folder: this.folder,
      what: this.#what,
      credential,
      signal,
      timeoutMs: this.#options.timeoutMs,
    });
  }

  /** Tries with what is known, and once more with credentials that are read anew: tokens expire. */
  async #authenticated<T>(run: (credential: BoundCredential | undefined) => Promise<T>): Promise<T> {
    const { credentials, remote } = this.#options;
    const host = remote.kind === "http" ? remote.host : "";
    const origin = host === "" ? "" : new URL(remote.url).origin;
    const credential = await credentials.for(host);
    try {
      return await run(credential && { ...credential, origin });
    } catch (error) {
      if (!credential || !(error instanceof GitError) || error.code !== "ACCESS_DENIED") throw error;
      const fresh = await credentials.for(host, true);
      if (fresh?.password === credential.password) throw error;
      return await run(fresh && { ...fresh, origin });
    }
  }

  /** What `git init --bare` makes, written by ourselves: starting a process costs more than all of it. True when nothing was there. */
  async #create(format: "sha1" | "sha256" = "sha1"): Promise<boolean> {
    if (existsSync(join(this.folder, "HEAD"))) return false;
    for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags"])
      await mkdir(join(this.folder, part), { recursive: true });
    const version = format === "sha1" ? 0 : 1;
    const extension = format === "sha1" ? "" : `[extensions]\n\tobjectformat = ${format}\n`;
    const config = `[core]\n\trepositoryformatversion = ${version}\n\tfilemode = true\n\tbare = true\n`;
    await writeFile(join(this.folder, "config"), config + extension);
    // Last: a folder with a HEAD is one that is whole.
    await writeFile(join(this.folder, "HEAD"), "ref: refs/heads/main\n");
    return true;
  }

  /** Git writes a branch only after all that it needs has arrived: then nobody has to look for it. */
  async #fetched({ branch, commit }: Head): Promise<boolean> {
    if (!PLAIN_BRANCH.test(branch) || branch.includes("..")) return false;
    try {
      return (await readFile(join(this.folder, "refs/heads", branch), "utf8")).trim() === commit;
    } catch {
      // Packed with others, or not there: git knows.
      return false;
    }
  }

  async #has(commit: string): Promise<boolean> {
    try {
      await git(["cat-file", "-e", `${commit}^{tree}`], { folder: this.folder, what: this.#what });
      return true;
    } catch (error) {
      if (error instanceof GitError) return false;
      throw error;
    }
  }

  /** The folder's files as a commit whose id depends on nothing but them. Links are stored as links, never followed. */
  async #snapshot(path: string, signal: AbortSignal | undefined): Promise<string> {
    const common = { folder: this.folder, what: this.#what, signal, timeoutMs: this.#options.timeoutMs };
    await git(["--work-tree", path, "add", "--all", "--", "."], {
      ...common,
      environment: { GIT_INDEX_FILE: join(this.folder, "snapshot-index") },
      inFolder: path,
    });
    const environment = { GIT_INDEX_FILE: join(this.folder, "snapshot-index") };
    const tree = (await git(["write-tree"], { ...common, environment })).toString().trim();
    const person = { NAME: "keelson", EMAIL: "keelson@localhost", DATE: "@0 +0000" };
    const identity = Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) =>
        Object.entries(person).map(([key, value]) => [`GIT_${who}_${key}`, value]),
      ),
    );
    const commit = await git(["commit-tree", "-m", "files of a folder", tree], {
      ...common,
      environment: identity,
    });
    return commit.toString().trim();
  }

  async #pack(signal: AbortSignal | undefined): Promise<void> {
    const packs = await readdir(join(this.folder, "objects", "pack")).catch(() => []);
    if (packs.filter((name) => name.endsWith(".pack")).length <= packsMax) return;
    await git(["gc", "--quiet", "--prune=now"], { folder: this.folder, what: this.#what, signal });
  }
}

/** A work tree or a bare repository. */
function isRepository(path: string): boolean {
  return (
    existsSync(join(path, ".git")) || (existsSync(join(path, "HEAD")) && existsSync(join(path, "objects")))
  );
}
