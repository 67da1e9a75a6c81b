/**
 * Sends records to the journal in order, and lets answers and effects out when everything before them is durable. Also answers without records wait: they may
 * speak of what is not durable yet. Records for which the node's journal has no room wait here, in order.
 */
import type { JournalStream } from "@keelson/objects";
import type { Effect } from "../engine/model/effect.ts";
import type { JournalRoom } from "./journal-room.ts";

interface Batch {
  readonly durable: Promise<number>;
  readonly effects: Effect[];
  records: number;
  bytes: number;
}

/** A record that waits for room, and its batch's promise. */
interface Late {
  readonly record: Buffer;
  readonly batch: Batch;
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommitsOptions {
  readonly stream: JournalStream;
  readonly room: JournalRoom;
  readonly onEffects: (effects: readonly Effect[]) => void;
  /** Once. Memory may be ahead of the journal from then on. */
  readonly onFailure: (error: unknown) => void;
}

export class Commits {
  readonly #options: CommitsOptions;
  /** The last batch that is not durable yet; earlier ones become durable before it. */
  #last: Batch | undefined;
  #late: Late[] = [];
  #failed = false;
  inflightBytes = 0;
  /** Over the whole life. */
  bytes = 0;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  /** Resolves when all that was committed is durable; undefined when it is. */
  get durable(): Promise<number> | undefined {
    return this.#last?.durable;
  }

  commit(records: readonly Buffer[], effects: readonly Effect[]): void {
    for (const record of records) this.#append(record);
    if (effects.length === 0) return;
    if (this.#last === undefined) this.#options.onEffects(effects);
    else for (const effect of effects) this.#last.effects.push(effect);
  }

  /** One record of its own; the sequence of its batch. */
  append(record: Buffer): Promise<number> {
    return this.#append(record).durable;
  }

  #append(record: Buffer): Batch {
    this.inflightBytes += record.length;
    this.bytes += record.length;
    if (this.#late.length > 0 || !this.#options.room.take(record.length)) return this.#wait(record);
    const durable = this.#options.stream.append(record);
    if (this.#last?.durable === durable) {
      this.#last.records += 1;
      this.#last.bytes += record.length;
      return this.#last;
    }
    const batch: Batch = { durable, effects: [], records: 1, bytes: record.length };
    this.#last = batch;
    durable.then(
      () => this.#settled(batch),
      (error: unknown) => this.#refused(batch, error),
    );
    return batch;
  }

  #wait(record: Buffer): Batch {
    let resolve!: Late["resolve"];
    let reject!: Late["reject"];
    const durable = new Promise<number>((onDurable, onError) => {
      resolve = onDurable;
      reject = onError;
    });
    // Whoever asked for it has this promise; when nobody did, `onFailure` tells.
    durable.catch(() => {});
    const batch: Batch = { durable, effects: [], records: 1, bytes: record.length };
    this.#last = batch;
    this.#late.push({ record, batch, resolve, reject });
    if (this.#late.length === 1) this.#options.room.wait(() => this.#sendLate());
    return batch;
  }

  /** Sends what there is room for; true when nothing is left. */
  #sendLate(): boolean {
    const { room, stream } = this.#options;
    for (let late = this.#late[0]; late !== undefined; late = this.#late[0]) {
      if (!room.takeInTurn(late.record.length)) return false;
      this.#late.shift();
      const { record, batch, resolve, reject } = late;
      // Settled here and not where its promise is, so that it comes before what is appended to the same flush later.
      stream.append(record).then(
        (sequence) => {
          resolve(sequence);
          this.#settled(batch);
        },
        (error: unknown) => {
          reject(error);
          this.#refused(batch, error);
        },
      );
    }
    return true;
  }

  #settled(batch: Batch): void {
    const { room, onEffects } = this.#options;
    this.inflightBytes -= batch.bytes;
    if (this.#last === batch) this.#last = undefined;
    if (batch.effects.length > 0 && !this.#failed) onEffects(batch.effects);
    room.free(batch.records, batch.bytes);
  }

  #refused(batch: Batch, error: unknown): void {
    const late = this.#late;
    this.#late = [];
    if (!this.#failed) {
      this.#failed = true;
      this.#options.onFailure(error);
    }
    for (const { reject } of late) reject(error);
    this.#options.room.free(batch.records, batch.bytes);
  }
}
