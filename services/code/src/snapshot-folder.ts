/**
 * Indexes of large repositories on disk, so that a node that restarts need not build them again. Outside normal operation: nothing depends on it, and a file that
 * is damaged or old is thrown away. Written beside and renamed, so that a half-written one is never read.
 */
import { createReadStream, createWriteStream, existsSync, mkdirSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { CodeIndex } from "./engine/index.ts";
import type { Head } from "./git/index.ts";
import type { Repository } from "./repository.ts";

interface SnapshotNote {
  readonly v: 1;
  readonly url: string;
  readonly heads: readonly Head[];
  /** Lengths of the pieces, in order. */
  readonly pieces: readonly number[];
}

export class SnapshotFolder {
  readonly #folder: string;
  readonly #bytesMin: number;
  readonly #url: (id: number) => string | undefined;
  /** One after the other: disks are slow, and memory is what is scarce. */
  #writing: Promise<unknown> = Promise.resolve();
  readonly #failed: (why: string) => void;

  constructor(options: {
    readonly folder: string;
    readonly bytesMin: number;
    readonly url: (id: number) => string | undefined;
    readonly failed: (why: string) => void;
  }) {
    this.#folder = options.folder;
    this.#bytesMin = options.bytesMin;
    this.#url = options.url;
    this.#failed = options.failed;
    mkdirSync(options.folder, { recursive: true });
  }

  /** Writes it when its turn comes, if it is large enough to be worth it. */
  keep(id: number, { index, heads }: { readonly index: CodeIndex; readonly heads: readonly Head[] }): void {
    const url = this.#url(id);
    if (index.stats.memoryBytes < this.#bytesMin || url === undefined) return;
    this.#writing = this.#writing
      .then(() => this.#write(id, url, index, heads))
      .catch((error: unknown) => this.#failed(String(error)));
  }

  async open(
    repository: Pick<Repository, "id" | "url">,
  ): Promise<{ heads: readonly Head[]; pieces: () => AsyncIterable<Uint8Array> } | undefined> {
    const note = join(this.#folder, `${repository.id}.json`);
    if (!existsSync(note)) return undefined;
    const text = await readFile(note, "utf8");
    let parsed: SnapshotNote;
    try {
      parsed = JSON.parse(text) as SnapshotNote;
    } catch {
      this.#failed(`${note} is damaged`);
      await this.remove(repository.id);
      return undefined;
    }
    const { v, url, heads, pieces } = parsed;
    const readable: boolean = v === 1;
    if (!readable || url !== repository.url) return undefined;
    return { heads, pieces: () => cut(join(this.#folder, `${repository.id}.index`), pieces) };
  }

  async remove(id: number): Promise<void> {
    await rm(join(this.#folder, `${id}.json`), { force: true });
    await rm(join(this.#folder, `${id}.index`), { force: true });
  }

  /** Resolves when everything that was to be kept is. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #write(id: number, url: string, index: CodeIndex, heads: readonly Head[]): Promise<void> {
    await this.remove(id);
    const path = join(this.#folder, `${id}.index`);
    const pieces: number[] = [];
    const copied = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of index.serialize()) {
        pieces.push(piece.length);
        yield Uint8Array.from(piece);
      }
    };
    try {
      // A pipeline hears of a full disk at any time; a stream whose error nobody hears ends the process.
      await pipeline(copied, createWriteStream(`${path}.part`));
      await rename(`${path}.part`, path);
    } catch (error) {
      await rm(`${path}.part`, { force: true });
      throw error;
    }
    const note: SnapshotNote = { v: 1, url, heads, pieces };
    await writeFile(join(this.#folder, `${id}.json`), JSON.stringify(note));
  }
}

/** The pieces as they were written, whatever pieces the disk gives. */
async function* cut(path: string, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0);
  let next = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    while (next < lengths.length && rest.length >= lengths[next]!) {
      yield rest.subarray(0, lengths[next]);
      rest = rest.subarray(lengths[next]);
      next++;
    }
  }
}
