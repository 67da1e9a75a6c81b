/**
 * Indexes of large repositories on disk, so that a node that restarts need not build them again. Outside normal operation: nothing depends on it, and a file that
 * is damaged or old is thrown away. Written beside and renamed, so that a half-written one is never read.
 *
 * What is no longer in the catalogue goes; so does what this node has not held for a day, because it would be old by the time it came back (but not before a node that was away itself had
 * the time to take it up again); and so much more, what was not held for longest first, as is beyond the folder's bound.
 */
import { createReadStream, createWriteStream, existsSync, mkdirSync } from "node:fs";
import { readFile, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Built } from "./build.ts";
import type { Head } from "./git/index.ts";
import type { Repository } from "./repository.ts";

interface SnapshotNote {
  readonly v: 1;
  readonly url: string;
  readonly heads: readonly Head[];
  /** Those of before do not say it. */
  readonly submodules?: number;
  /** Lengths of the pieces, in order. */
  readonly pieces: readonly number[];
}

interface FoundSnapshot extends Pick<Built, "heads" | "submodules"> {
  readonly bytes: number;
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

/** Of repositories that have moved away. */
const awayMsMax = 86_400_000;
/** After a start: repositories are claimed and restored one after the other. */
const takeUpMs = 3_600_000;

interface KeptSnapshot {
  readonly id: number;
  readonly bytes: number;
  /** Wall clock of when it was last seen to be held here; for ever while it is. */
  readonly heldAt: number;
}

export class SnapshotFolder {
  readonly #folder: string;
  readonly #bytesMin: number;
  readonly #bytesMax: number;
  readonly #wall: () => number;
  readonly #startedAt: number;
  readonly #held: (id: number) => boolean;
  readonly #url: (id: number) => string | undefined;
  /** One after the other: disks are slow, and memory is what is scarce. */
  #writing: Promise<unknown> = Promise.resolve();
  readonly #failed: (why: string) => void;

  constructor(options: {
    readonly folder: string;
    readonly bytesMin: number;
    /** Of all of them together. */
    readonly bytesMax: number;
    readonly wall: () => number;
    /** Whether this node holds it. */
    readonly held: (id: number) => boolean;
    /** Undefined when the catalogue has no such repository. */
    readonly url: (id: number) => string | undefined;
    readonly failed: (why: string) => void;
  }) {
    this.#folder = options.folder;
    this.#bytesMin = options.bytesMin;
    this.#bytesMax = options.bytesMax;
    this.#wall = options.wall;
    this.#startedAt = options.wall();
    this.#held = options.held;
    this.#url = options.url;
    this.#failed = options.failed;
    mkdirSync(options.folder, { recursive: true });
  }

  /** Writes it when its turn comes, if it is large enough to be worth it. */
  keep(id: number, kept: Pick<Built, "index" | "heads" | "submodules">): void {
    const { memoryBytes } = kept.index.stats;
    if (memoryBytes < this.#bytesMin || memoryBytes > this.#bytesMax) return;
    this.#then(async () => {
      const url = this.#url(id);
      if (url === undefined) return;
      await this.#write(id, url, kept);
      await this.#tidy();
    });
  }

  /** A repository was taken off. */
  forget(id: number): void {
    this.#then(() => this.remove(id));
  }

  /** Throws away what need not be kept. Only once the catalogue is known: what is not in it goes. */
  tidy(): void {
    this.#then(() => this.#tidy());
  }

  #then(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error: unknown) => this.#failed(String(error)));
  }

  async open(repository: Pick<Repository, "id" | "url">): Promise<FoundSnapshot | undefined> {
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
    const { v, url, heads, submodules = 0, pieces } = parsed;
    const readable: boolean = v === 1;
    if (!readable || url !== repository.url) return undefined;
    const bytes = pieces.reduce((sum, length) => sum + length, 0);
    return {
      heads,
      submodules,
      bytes,
      pieces: () => cut(join(this.#folder, `${repository.id}.index`), pieces),
    };
  }

  async remove(id: number): Promise<void> {
    await rm(join(this.#folder, `${id}.json`), { force: true });
    await rm(join(this.#folder, `${id}.index`), { force: true });
  }

  /** Resolves when everything that was to be kept is. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #tidy(): Promise<void> {
    const now = this.#wall();
    const kept: KeptSnapshot[] = [];
    const names = new Set(await readdir(this.#folder));
    for (const name of names) {
      const id = Number(/^(\d+)\.(?:json|index|index\.part)$/.exec(name)?.[1]);
      if (Number.isNaN(id)) continue;
      // Nothing is written now: what is not whole was left by a process that ended.
      const whole = names.has(`${id}.json`) && names.has(`${id}.index`);
      if (name.endsWith(".part")) await rm(join(this.#folder, name), { force: true });
      else if (!whole || this.#url(id) === undefined) await this.remove(id);
      else if (name.endsWith(".json")) kept.push(await this.#look(id, now));
    }
    kept.sort((a, b) => a.heldAt - b.heldAt);
    let bytes = kept.reduce((sum, each) => sum + each.bytes, 0);
    const isEarly = now - this.#startedAt <= takeUpMs;
    for (const each of kept) {
      if (bytes <= this.#bytesMax && (isEarly || now - each.heldAt <= awayMsMax)) continue;
      await this.remove(each.id);
      bytes -= each.bytes;
    }
  }

  async #look(id: number, now: number): Promise<KeptSnapshot> {
    const note = join(this.#folder, `${id}.json`);
    const { size } = await stat(join(this.#folder, `${id}.index`));
    if (!this.#held(id)) return { id, bytes: size, heldAt: (await stat(note)).mtimeMs };
    await utimes(note, now / 1_000, now / 1_000);
    return { id, bytes: size, heldAt: Infinity };
  }

  async #write(
    id: number,
    url: string,
    { index, heads, submodules }: Pick<Built, "index" | "heads" | "submodules">,
  ): Promise<void> {
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
    const note: SnapshotNote = { v: 1, url, heads, submodules, pieces };
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
