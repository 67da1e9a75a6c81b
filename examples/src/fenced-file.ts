/**
 * A number on disk that refuses writers of older tenures. Every change is a new file named by its version, put in place by link(), which fails
 * when that file is there already. So "read, check the epoch, write" is one step, whichever processes do it at the same time. A database does
 * this with `UPDATE … WHERE epoch <= ?`, an object store with put-if-match.
 */
import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EpochGate, NO_EPOCH, type Epoch } from "@keelson/kernel";

interface Version {
  readonly n: number;
  readonly epoch: Epoch;
  readonly value: number;
}

export class FencedFile {
  readonly #folder: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The newest version. */
  async read(): Promise<Version> {
    for (;;) {
      await mkdir(this.#folder, { recursive: true });
      const n = newest(await readdir(this.#folder));
      if (n === 0) return { n, epoch: NO_EPOCH, value: 0 };
      try {
        return JSON.parse(await readFile(join(this.#folder, String(n)), "utf8")) as Version;
      } catch (error) {
        if (!hasCode(error, "ENOENT")) throw error; // Otherwise a newer one has replaced it: look again.
      }
    }
  }

  /** Resolves once the change is on disk. Rejects with StaleEpochError when a newer tenure has begun: nothing was written then. */
  update(epoch: Epoch, change: (value: number) => number): Promise<number> {
    const done = this.#last.then(() => this.#change(epoch, change));
    this.#last = done.catch(() => undefined); // The caller hears of the failure; the next change has its own chance.
    return done;
  }

  async #change(epoch: Epoch, change: (value: number) => number): Promise<number> {
    for (;;) {
      const last = await this.read();
      new EpochGate(last.epoch).check(epoch);
      const next = { n: last.n + 1, epoch, value: change(last.value) };
      if (await this.#append(next)) return next.value;
    }
  }

  /** False when another made this version first. */
  async #append(version: Version): Promise<boolean> {
    const file = join(this.#folder, String(version.n));
    const draft = `${file}.${randomUUID()}`;
    await writeFile(draft, JSON.stringify(version), { flush: true });
    try {
      await link(draft, file);
    } catch (error) {
      if (hasCode(error, "EEXIST") || hasCode(error, "ENOENT")) return false;
      throw error;
    }
    const folder = await open(this.#folder);
    await folder.sync();
    await folder.close();
    const names = await readdir(this.#folder);
    // A newer tenure either took this change over, or had long cleaned up and this came too late. Nobody here can tell.
    if (newest(names) > version.n)
      throw Object.assign(new Error("another tenure began during the write"), { code: "OUTCOME_UNKNOWN" });
    const old = names.filter((name) => Number.parseInt(name) <= version.n && name !== String(version.n));
    await Promise.all(old.map((name) => rm(join(this.#folder, name), { force: true })));
    return true;
  }
}

function newest(names: readonly string[]): number {
  return Math.max(0, ...names.filter((name) => /^\d+$/.test(name)).map(Number));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
