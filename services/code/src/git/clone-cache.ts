/**
 * The clones of a node, in one folder: one per address. What has not been used for longest goes when there are too many; a clone in use never goes.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, statSync } from "node:fs";
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

export class CloneCache {
  readonly #options: CloneCacheOptions;
  readonly #hosts = new HostTurns();
  readonly #refs: CloneOptions["refs"];
  /** Of those in use. Work on one clone is done one after the other: git locks refs, and two fetches of one repository are one too many. */
  readonly #turns = new Map<string, Limiter>();

  constructor(options: CloneCacheOptions) {
    this.#options = options;
    this.#refs = { folder: new FolderRefs(), http: new HttpRefs(options.now) };
    mkdirSync(options.folder, { recursive: true });
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
    const idle = names
      .filter((name) => !this.#turns.has(name.slice(0, -4)))
      .map((name) => ({ path: join(folder, name), usedAt: statSync(join(folder, name)).mtimeMs }))
      .sort((a, b) => a.usedAt - b.usedAt);
    for (const { path } of idle.slice(0, names.length - clonesMax))
      await rm(path, { recursive: true, force: true });
  }
}
