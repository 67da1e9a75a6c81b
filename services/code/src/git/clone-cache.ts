/**
 * The clones of a node, in one folder: one per address. What has not been used for longest goes when there are too many; a clone in use never goes.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Limiter } from "../limiter.ts";
import { Clone, type CloneOptions } from "./clone.ts";
import { FolderRefs } from "./folder-refs.ts";
import { HostTurns } from "./host-turns.ts";
import { HttpRefs } from "./http-refs.ts";
import type { Remote } from "./remote.ts";

interface CloneCacheOptions extends Omit<CloneOptions, "folder" | "remote" | "branches" | "turns" | "refs"> {
  readonly folder: string;
  readonly clonesMax: number;
  readonly now: () => number;
}

/** What the name of a clone ends with that is being thrown away. */
const GONE = ".gone";

export class CloneCache {
  readonly #options: CloneCacheOptions;
  readonly #hosts = new HostTurns();
  readonly #refs: CloneOptions["refs"];
  /** Of those in use. Work on one clone is done one after the other: git locks refs, and two fetches of one repository are one too many. */
  readonly #turns = new Map<string, Limiter>();
  /** Of clones that were thrown away: one may come back and go again before all of it is gone. */
  #thrown = 0;

  constructor(options: CloneCacheOptions) {
    this.#options = options;
    this.#refs = { folder: new FolderRefs(), http: new HttpRefs(options.now) };
    mkdirSync(options.folder, { recursive: true });
    // A process that ended was throwing them away.
    for (const name of readdirSync(options.folder))
      if (name.endsWith(GONE)) rmSync(join(options.folder, name), { recursive: true, force: true });
  }

  /** Does something with a repository's clone, alone, and keeps it until that is done. Who waits for others and is no longer wanted leaves at once. */
  async with<T>(
    remote: Remote,
    branches: readonly string[],
    work: (clone: Clone) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const id = createHash("sha256").update(remote.url).digest("hex").slice(0, 32);
    const folder = join(this.#options.folder, `${id}.git`);
    let turns = this.#turns.get(id);
    if (!turns) this.#turns.set(id, (turns = new Limiter(1)));
    const clone = new Clone({
      ...this.#options,
      refs: this.#refs,
      turns: this.#hosts,
      folder,
      remote,
      branches,
    });
    try {
      return await turns.run(() => work(clone), signal);
    } finally {
      if (turns.running === 0) this.#turns.delete(id);
      await this.#tidy(folder);
    }
  }

  /** Ends the connections that were kept for looking. */
  close(): void {
    this.#refs.http.close();
  }

  async #tidy(used: string): Promise<void> {
    const now = new Date();
    // The folder may be gone: its work may have been to remove it.
    await utimes(used, now, now).catch(() => undefined);
    const { folder, clonesMax } = this.#options;
    const names = readdirSync(folder).filter((name) => name.endsWith(".git"));
    if (names.length <= clonesMax) return;
    const isIdle = (name: string): boolean => !this.#turns.has(name.slice(0, -4));
    const idle = names
      .filter(isIdle)
      .map((name) => ({ name, usedAt: statSync(join(folder, name)).mtimeMs }))
      .sort((a, b) => a.usedAt - b.usedAt);
    for (const { name } of idle.slice(0, names.length - clonesMax)) {
      const path = join(folder, name);
      // It came into use, or went, while one before it was thrown away.
      if (!isIdle(name) || !existsSync(path)) continue;
      // At once: whoever wants it from now on makes it anew.
      const gone = `${path}.${++this.#thrown}${GONE}`;
      renameSync(path, gone);
      await rm(gone, { recursive: true, force: true });
    }
  }
}
