/**
 * The one journal of a node's job queue, opened when the first shard comes. It is named after the node, so that a restart goes on in it, and opened under the epoch
 * of the tenure that needs it: epochs rise, so a later process of the same node ends an earlier one. When it cannot be written, `mend` opens it anew until it can.
 */
import type { Clock, Epoch, Random, Timer } from "@keelson/kernel";
import { JournalError, type Objects } from "@keelson/objects";
import { JobsError } from "../storage/errors.ts";
import { NodeJournal } from "../storage/node-journal.ts";

export interface JournalsOptions {
  readonly objects: Objects;
  readonly node: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a flush may gather; the journal's own when left out. */
  readonly gatherMs?: number | undefined;
  /** How long a flush may take before the journal counts as broken; the journal's own when left out. */
  readonly flushTimeoutMs?: number | undefined;
}

const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** A journal that breaks sooner than this after it was mended has not been well, and pauses go on growing. */
const WELL_MS = 30_000;
/** As much as a full flush: a disk that has room for less is still full. */
const TRIAL_BYTES = 1024 * 1024;

export class Journals {
  readonly #options: JournalsOptions;
  #opened: Promise<NodeJournal> | undefined;
  /** The highest under which it was opened here. */
  #epoch: Epoch | undefined;
  #mending: Promise<boolean> | undefined;
  #tries = 0;
  #wellSinceMs = -Infinity;
  #pause: { readonly timer: Timer; readonly end: () => void } | undefined;
  #closed = false;

  constructor(options: JournalsOptions) {
    this.#options = options;
  }

  /** Whether it is known to be broken. */
  get isBroken(): boolean {
    return this.#mending !== undefined;
  }

  async open(epoch: Epoch): Promise<NodeJournal> {
    if (this.isBroken) throw new JobsError("JOBS_CLOSED", "the journal of this node cannot be written");
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

  /** True when the journal was opened anew and written to, however long that takes; false when this was closed before. Every failure is told. */
  mend(onFailure: (error: unknown, againMs: number) => void): Promise<boolean> {
    this.#mending ??= this.#mend(onFailure).finally(() => {
      this.#mending = undefined;
    });
    return this.#mending;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pause?.timer.cancel();
    this.#pause?.end();
    // A try that is under way may take as long as S3 does not answer; it lets go by itself.
    if (this.isBroken) return;
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
  }

  async #mend(onFailure: (error: unknown, againMs: number) => void): Promise<boolean> {
    const { clock } = this.#options;
    if (clock.now() - this.#wellSinceMs > WELL_MS) this.#tries = 0;
    // What is broken is let go of, so that the same files and names can be taken again.
    const broken = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await broken?.close().catch((error: unknown) => onFailure(error, 0));
    for (let first = this.#tries === 0; !this.#closed; first = false) {
      const pauseMs = first ? 0 : this.#nextPauseMs();
      // oxlint-disable-next-line no-await-in-loop -- one try after the other.
      if (pauseMs > 0) await this.#wait(pauseMs);
      if (this.#closed) break;
      this.#tries += 1;
      try {
        // oxlint-disable-next-line no-await-in-loop -- as above.
        const mended = await this.#tryOut();
        this.#opened = Promise.resolve(mended);
        this.#wellSinceMs = clock.now();
        if (!this.#closed) return true;
        // oxlint-disable-next-line no-await-in-loop -- the last thing it does.
        await mended.close();
      } catch (error) {
        // Another process of this node has it. What this one is granted from now on has a higher epoch, and opens it under that.
        if (error instanceof JournalError && error.code === "JOURNAL_FENCED") return true;
        onFailure(error, this.#nextPauseMs());
      }
    }
    return false;
  }

  async #tryOut(): Promise<NodeJournal> {
    if (this.#epoch === undefined) throw new Error("a journal that was never opened cannot be mended");
    const journal = await this.#start(this.#epoch);
    try {
      await journal.tryOut(TRIAL_BYTES);
      return journal;
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  #nextPauseMs(): number {
    return Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#tries, 10));
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#pause = { timer: this.#options.clock.after(ms, resolve), end: resolve };
    });
    this.#pause = undefined;
  }

  #start(epoch: Epoch): Promise<NodeJournal> {
    const { objects, node, clock, random, gatherMs, flushTimeoutMs } = this.#options;
    const terms = {
      ...(gatherMs === undefined ? {} : { gatherMs }),
      ...(flushTimeoutMs === undefined ? {} : { flushTimeoutMs }),
    };
    if (this.#epoch === undefined || isHigher(epoch, this.#epoch)) this.#epoch = epoch;
    return NodeJournal.open({ objects, name: `node/${node}`, epoch, clock, random, terms });
  }
}

function isHigher(a: Epoch, b: Epoch): boolean {
  return a.era === b.era ? a.revision > b.revision : a.era > b.era;
}
