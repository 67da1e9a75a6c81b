/**
 * The journal of a node, shared by all its shards of the job queue, so that a flush is one sync or one PUT whatever their number. It may be trimmed up to what
 * every shard has in a checkpoint; also shards that other nodes have taken over, until their new holder has. A small object per shard says that it is needed.
 */
import type { Clock, Epoch, Random } from "@keelson/kernel";
import {
  openJournal,
  type Journal,
  type JournalStream,
  type JournalTerms,
  type Objects,
} from "@keelson/objects";
import { JournalRoom } from "./journal-room.ts";

const MIB = 1024 * 1024;
/**
 * What a batch may hold: with its head it must stay below what readers take for damage. A record is cut between operations only, and the largest operation is a job
 * that fills a request, with the results that it is given.
 */
const TERMS: Partial<JournalTerms> = { gatherBytesMax: 60 * MIB, recordBytesMax: 32 * MIB };
/** What shards may have on its way together, so that no batch is ever too large. */
const ROOM_BYTES = 48 * MIB;
const CALL_TIMEOUT_MS = 10_000;
/** No shard has this name. */
const TRIAL_STREAM = "trial";

export interface NodeJournalOptions {
  readonly objects: Objects;
  /** One name per node, the same every time it starts. */
  readonly name: string;
  readonly epoch: Epoch;
  readonly clock: Clock;
  readonly random: Random;
  readonly terms?: Partial<JournalTerms> | undefined;
  readonly soon?: ((run: () => void) => void) | undefined;
}

export class NodeJournal {
  readonly name: string;
  readonly room = new JournalRoom(ROOM_BYTES);
  readonly #journal: Journal;
  readonly #objects: Objects;
  /** What each shard held here needs from on. */
  readonly #needed = new Map<string, number>();
  #trimmed = 0;

  private constructor(journal: Journal, objects: Objects) {
    this.name = journal.name;
    this.#journal = journal;
    this.#objects = objects;
  }

  static async open(options: NodeJournalOptions): Promise<NodeJournal> {
    const { objects, name, epoch, clock, random, terms, soon } = options;
    const journal = await openJournal(objects, {
      name,
      epoch,
      clock,
      random,
      terms: { ...TERMS, ...terms },
      ...(soon === undefined ? {} : { soon }),
    });
    return new NodeJournal(journal, objects);
  }

  get journal(): Journal {
    return this.#journal;
  }

  stream(id: string, epoch: Epoch): JournalStream {
    return this.#journal.stream(id, epoch);
  }

  /** Rejects when so many bytes cannot be written. Nobody reads them. */
  async tryOut(bytes: number): Promise<void> {
    await this.#journal.stream(TRIAL_STREAM, this.#journal.epoch).append(Buffer.alloc(bytes));
  }

  /** Before a manifest names this journal: it is needed from the sequence on, by whoever has the shard. */
  async need(stream: string, from: number): Promise<void> {
    this.#needed.set(stream, from);
    await this.#objects.put(needKey(this.name, stream), Buffer.from(String(from)), {
      timeoutMs: CALL_TIMEOUT_MS,
    });
  }

  /** The shard's checkpoint has everything before. */
  passed(stream: string, from: number): void {
    this.#needed.set(stream, from);
  }

  /** The shard is held elsewhere from now on; what it needs of this journal is what its object says. */
  leave(stream: string): void {
    this.#needed.delete(stream);
  }

  /** A manifest of the shard does not name the other journal any more. */
  async release(journal: string, stream: string): Promise<void> {
    await this.#objects.delete([needKey(journal, stream)], { timeoutMs: CALL_TIMEOUT_MS });
  }

  /** Lets go of what nobody needs. */
  async trim(): Promise<void> {
    let from = Infinity;
    for (const needed of this.#needed.values()) from = Math.min(from, needed);
    const prefix = needPrefix(this.name);
    for (let after: string | undefined; ;) {
      // oxlint-disable-next-line no-await-in-loop -- page by page.
      const page = await this.#objects.list(prefix, { timeoutMs: CALL_TIMEOUT_MS, after });
      for (const { key } of page.objects) {
        const stream = decodeURIComponent(key.slice(prefix.length));
        // Those held here are counted, and more exactly.
        if (this.#needed.has(stream)) continue;
        // oxlint-disable-next-line no-await-in-loop -- there are few.
        const object = await this.#objects.get(key, { timeoutMs: CALL_TIMEOUT_MS });
        if (object !== undefined) from = Math.min(from, Number(object.bytes.toString()));
      }
      if (!page.more) break;
      after = page.objects.at(-1)?.key;
    }
    if (from === Infinity || from <= this.#trimmed) return;
    await this.#journal.trim(from);
    this.#trimmed = from;
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }
}

function needPrefix(journal: string): string {
  return `jobs-needed/${encodeURIComponent(journal)}/`;
}

function needKey(journal: string, stream: string): string {
  return needPrefix(journal) + encodeURIComponent(stream);
}
