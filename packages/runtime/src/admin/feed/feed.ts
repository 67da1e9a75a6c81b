/**
 * The fleet, live, for pages that show it: a reader gets everything and then what changes, gathered for a quarter of a second at a time. All readers share
 * one model and the last frames, so that the tenth page costs little; the model is there only while somebody reads, and a little longer, so that a page
 * that lost its connection goes on where it was.
 */
import type { Clock, Keys, Timer } from "@keelson/kernel";
import type { Mirror } from "../../mirror/mirror.ts";
import type { AskNode } from "../ask-node.ts";
import { AdminError } from "../errors.ts";
import type { EventLog } from "../event-log.ts";
import type { Plans } from "../plans.ts";
import type { StatusTerms } from "../status.ts";
import type { FeedChanges, FeedFrame, FeedQuery } from "./frames.ts";
import { FeedModel, type Collected } from "./model.ts";

export interface FleetFeedOptions {
  readonly keys: Keys;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly terms: StatusTerms;
  readonly events: EventLog;
  readonly ask: AskNode | undefined;
  /** Tells this feed's cursors from those of another process. */
  readonly id: string;
}

/** Changes are gathered for so long. */
const GATHER_MS = 250;
/** What is left of a large change is worked out in pieces; in between, others have their turn. */
const BREATH_MS = 5;
const REPORT_MS = 5_000;
/** How long the model outlives its last reader. */
const LINGER_MS = 30_000;
/** How often a feed looks whether the store is still followed; a change wakes it earlier. */
const LOOK_MS = 2_000;
/** Frames that are kept for readers that come back, and rows in them. */
const framesMax = 240;
const frameRowsMax = 50_000;
const readersMax = 200;
const eventsPerFrameMax = 50;
const eventsReadMax = 1_000;
/** Events that a new reader is told of. */
const eventsRecent = 50;

interface Running {
  readonly model: FeedModel;
  readonly run: string;
  readonly unsubscribe: () => void;
  /** The last frames, oldest first. `seq` is the number of the last one. */
  readonly frames: FeedChanges[];
  rows: number;
  seq: number;
  /** Everything that there was at the beginning has been worked out. */
  built: boolean;
  /** When changes are gathered next, and when an idle feed looks by itself. */
  timer: Timer | undefined;
  look: Timer | undefined;
  eventCursor: string;
}

export class FleetFeed {
  readonly #options: FleetFeedOptions;
  #running: Running | undefined;
  #runs = 0;
  #readers = 0;
  #linger: Timer | undefined;
  readonly #sleepers = new Set<() => void>();

  constructor(options: FleetFeedOptions) {
    this.#options = options;
  }

  close(): void {
    this.#linger?.cancel();
    this.#stop();
    this.#wake();
  }

  /** Frames until the signal is aborted. Throws AdminError when too many read already. */
  async *follow(query: FeedQuery, signal: AbortSignal): AsyncGenerator<FeedFrame, void> {
    const { clock } = this.#options;
    if (this.#readers >= readersMax)
      throw new AdminError("CONFLICT", `${readersMax} readers follow the fleet already: close some pages`);
    this.#readers++;
    this.#linger?.cancel();
    const woken = (): void => this.#wake();
    signal.addEventListener("abort", woken, { once: true });
    let reportAt = query.node === undefined ? Infinity : clock.now();
    try {
      let running = this.#start();
      let told = resumed(running, query.after);
      // Nothing may change for long: a reader that came back hears at once that it missed nothing.
      if (told !== undefined) yield { kind: "live", cursor: query.after ?? "" };
      while (!signal.aborted) {
        if (running !== this.#running) {
          running = this.#start();
          told = undefined;
        }
        if (!running.built) await this.#sleep(LOOK_MS);
        else if (told === undefined || told < running.seq - running.frames.length) {
          // It has seen nothing yet, or frames that it has not seen are gone: everything, from the beginning.
          told = running.seq;
          yield* this.#snapshot(running, query);
        } else if (told < running.seq) {
          const frame = running.frames[running.frames.length - (running.seq - told)]!;
          told++;
          yield query.replicas ? frame : withoutReplicas(frame);
        } else if (clock.now() >= reportAt) {
          yield await this.#report(running, query.node ?? "");
          reportAt = clock.now() + REPORT_MS;
        } else await this.#sleep(Math.min(LOOK_MS, reportAt - clock.now()));
      }
    } finally {
      signal.removeEventListener("abort", woken);
      this.#readers--;
      if (this.#readers === 0) this.#linger = clock.after(LINGER_MS, () => this.#stop());
    }
  }

  #start(): Running {
    if (this.#running) return this.#running;
    const { keys, mirror, plans, terms, events, id } = this.#options;
    const model = new FeedModel({ keys, image: mirror.image, plans, terms, live: () => mirror.live });
    let running: Running | undefined;
    const unsubscribe = mirror.subscribe({
      changed: (changes) => {
        model.note(changes);
        if (running) running.timer ??= this.#later(running, GATHER_MS);
      },
      listed: () => undefined,
    });
    this.#running = running = {
      model,
      run: `${id}.${++this.#runs}`,
      unsubscribe,
      frames: [],
      rows: 0,
      seq: 0,
      built: false,
      timer: undefined,
      look: undefined,
      eventCursor: events.page({}).cursor,
    };
    running.timer = this.#later(running, 0);
    return running;
  }

  #later(running: Running, ms: number): Timer {
    return this.#options.clock.after(ms, () => this.#gather(running));
  }

  #stop(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.unsubscribe();
    running?.timer?.cancel();
    running?.look?.cancel();
  }

  /** Works out what changed, keeps it as a frame, and wakes the readers. */
  #gather(running: Running): void {
    if (running !== this.#running) return;
    running.timer?.cancel();
    running.look?.cancel();
    running.timer = undefined;
    if (running.model.worn) {
      this.#stop();
      this.#wake();
      return;
    }
    const { changes, more } = running.model.collect(this.#options.clock.wall());
    // Nobody has been told of the beginning in pieces: whoever comes is told all of it at once.
    if (running.built) this.#keep(running, changes);
    running.built ||= !more && this.#options.mirror.image.incarnation !== undefined;
    if (more) running.timer = this.#later(running, BREATH_MS);
    else running.look = this.#later(running, LOOK_MS);
    if (running.built) this.#wake();
  }

  #keep(running: Running, changes: Collected): void {
    const { events: log, clock } = this.#options;
    const { events, cursor } = log.page({ after: running.eventCursor, limit: eventsReadMax });
    running.eventCursor = cursor;
    if (Object.keys(changes).length === 0 && events.length === 0) return;
    const leftOut = events.length - eventsPerFrameMax;
    running.seq++;
    const frame: FeedChanges = {
      kind: "changes",
      at: clock.wall(),
      cursor: cursorOf(running),
      ...changes,
      ...(events.length > 0 ? { events: events.slice(-eventsPerFrameMax) } : {}),
      ...(leftOut > 0 ? { eventsLeftOut: leftOut } : {}),
    };
    running.frames.push(frame);
    running.rows += rowsIn(frame);
    while (running.frames.length > framesMax || (running.rows > frameRowsMax && running.frames.length > 1))
      running.rows -= rowsIn(running.frames.shift()!);
  }

  *#snapshot(running: Running, { replicas }: FeedQuery): Iterable<FeedFrame> {
    const { clock, keys, events } = this.#options;
    const at = clock.wall();
    const cursor = cursorOf(running);
    yield { kind: "reset", fleet: keys.fleet, at };
    for (const part of running.model.everything()) {
      const frame: FeedChanges = { kind: "changes", at, ...part };
      if (replicas) yield frame;
      else if (!isAboutReplicas(part)) yield withoutReplicas(frame);
    }
    yield { kind: "changes", at, events: events.recent(eventsRecent) };
    yield { kind: "live", cursor };
  }

  async #report(running: Running, node: string): Promise<FeedFrame> {
    const { ask } = this.#options;
    const address = running.model.addressOf(node);
    if (!ask || address === undefined || address === "")
      return { kind: "report", node, report: "there is no such node to ask" };
    try {
      return { kind: "report", node, report: await ask.report(address) };
    } catch (error) {
      return { kind: "report", node, report: error instanceof Error ? error.message : String(error) };
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#sleepers.delete(done);
        resolve();
      };
      const timer = this.#options.clock.after(ms, done);
      this.#sleepers.add(done);
    });
  }

  #wake(): void {
    for (const wake of this.#sleepers) wake();
  }
}

function cursorOf({ run, seq }: Running): string {
  return `${run}-${seq}`;
}

/** The number of the last frame that the reader has seen; undefined when it must be told everything. */
function resumed({ run, seq }: Running, after: string | undefined): number | undefined {
  if (after?.startsWith(`${run}-`) !== true) return undefined;
  const told = Number(after.slice(run.length + 1));
  return Number.isSafeInteger(told) && told >= 0 && told <= seq ? told : undefined;
}

function rowsIn({ rows, weights, contenders, removed }: FeedChanges): number {
  return (
    (rows?.i.length ?? 0) + (weights?.i.length ?? 0) + (contenders?.length ?? 0) + (removed?.length ?? 0)
  );
}

const slim = new WeakMap<FeedChanges, FeedChanges>();

/** The same frame for readers that asked for no replicas; made once, however many they are. */
function withoutReplicas(frame: FeedChanges): FeedChanges {
  let made = slim.get(frame);
  if (!made) {
    const { added: _a, removed: _r, rows: _o, contenders: _c, weights: _w, lots: _l, ...rest } = frame;
    slim.set(frame, (made = rest));
  }
  return made;
}

function isAboutReplicas({ added, rows, lots }: Collected): boolean {
  return added !== undefined || rows !== undefined || lots !== undefined;
}
