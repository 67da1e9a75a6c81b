/**
 * The one journal of a node's job queue, opened when the first shard comes, and again when it has failed. It is named after the node, so that a restart goes on
 * in it, and opened under the epoch of the tenure that needs it: epochs rise, so a later process of the same node ends an earlier one.
 */
import type { Clock, Epoch, Random } from "@keelson/kernel";
import type { Objects } from "@keelson/objects";
import { NodeJournal } from "../storage/node-journal.ts";

export interface JournalsOptions {
  readonly objects: Objects;
  readonly node: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a flush may gather; the journal's own when left out. */
  readonly gatherMs?: number | undefined;
}

export class Journals {
  readonly #options: JournalsOptions;
  #opened: Promise<NodeJournal> | undefined;

  constructor(options: JournalsOptions) {
    this.#options = options;
  }

  async open(epoch: Epoch): Promise<NodeJournal> {
    const current = await this.#opened?.catch(() => undefined);
    if (current !== undefined && current.journal.failure === undefined) return current;
    // Shards that come at the same time share what the first one opens.
    if (this.#opened === undefined || current?.journal.failure !== undefined)
      this.#opened = this.#start(epoch);
    const opening = this.#opened;
    opening.catch(() => {
      if (this.#opened === opening) this.#opened = undefined;
    });
    return opening;
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
  }

  #start(epoch: Epoch): Promise<NodeJournal> {
    const { objects, node, clock, random, gatherMs } = this.#options;
    const terms = gatherMs === undefined ? {} : { terms: { gatherMs } };
    return NodeJournal.open({ objects, name: `node/${node}`, epoch, clock, random, ...terms });
  }
}
