/**
 * Sends records to the journal in order, and lets answers and effects out when everything before them is durable. Also answers without records wait: they may
 * speak of what is not durable yet.
 */
import type { JournalStream } from "@keelson/objects";
import type { Effect } from "../engine/model/effect.ts";

interface Batch {
  readonly durable: Promise<number>;
  readonly effects: Effect[];
  bytes: number;
}

export interface CommitsOptions {
  readonly stream: JournalStream;
  readonly onEffects: (effects: readonly Effect[]) => void;
  /** Once. Memory may be ahead of the journal from then on. */
  readonly onFailure: (error: unknown) => void;
}

export class Commits {
  readonly #options: CommitsOptions;
  /** The last batch that is not durable yet; earlier ones become durable before it. */
  #last: Batch | undefined;
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
    const durable = this.#options.stream.append(record);
    this.inflightBytes += record.length;
    this.bytes += record.length;
    if (this.#last?.durable === durable) {
      this.#last.bytes += record.length;
      return this.#last;
    }
    const batch: Batch = { durable, effects: [], bytes: record.length };
    this.#last = batch;
    durable.then(
      () => this.#settled(batch),
      (error: unknown) => this.#fail(error),
    );
    return batch;
  }

  #settled(batch: Batch): void {
    this.inflightBytes -= batch.bytes;
    if (this.#last === batch) this.#last = undefined;
    if (batch.effects.length > 0 && !this.#failed) this.#options.onEffects(batch.effects);
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#options.onFailure(error);
  }
}
