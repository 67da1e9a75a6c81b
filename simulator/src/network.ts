import type { Random } from "@keelson/kernel";
import { chance, exponential, uniform, type Range } from "./chance/draw.ts";
import type { SimProcess } from "./process.ts";
import type { Scheduler } from "./time/scheduler.ts";

/** Matches every process, and not the store or the objects. */
export const PROCESSES = "processes";

const SERVERS: ReadonlySet<string> = new Set(["store", "watch", "objects"]);

/** What is wrong with the messages from one endpoint to another while a fault lasts. Endpoints are process names, `store`, `watch` and `objects`. */
export interface LinkFault {
  readonly from: string;
  readonly to: string;
  /** Nothing gets through. */
  readonly cut?: boolean;
  /** The share of messages that get lost. */
  readonly loss?: number;
  /** How much longer messages take. */
  readonly delayMs?: Range;
  /** The share of calls that arrive a second time, up to `lateMs` later. */
  readonly repeat?: number;
  /** The share of lost messages that arrive after all, long after their sender gave up. */
  readonly late?: number;
}

export interface NetworkTerms {
  /** The least a message takes, one way. */
  readonly floorMs: number;
  /** The mean of what it takes beyond that. */
  readonly meanMs: number;
  /** The share of messages that take up to `spikeMs` longer even when nothing is wrong. */
  readonly spikes: number;
  readonly spikeMs: Range;
  /** How late a late message or a repetition is. */
  readonly lateMs: Range;
}

/**
 * The links between processes, store and objects. It decides when a message arrives, and how often: once as a rule, never when it is lost, twice when it is
 * repeated. Messages overtake each other; whoever needs order (a watch) keeps it above this.
 */
export class Network {
  readonly #scheduler: Scheduler;
  readonly #terms: NetworkTerms;
  readonly #random: Random;
  readonly #faults: LinkFault[] = [];

  constructor(scheduler: Scheduler, terms: NetworkTerms, random: Random) {
    this.#scheduler = scheduler;
    this.#terms = terms;
    this.#random = random;
  }

  /** Begins a fault; the result ends it. */
  begin(fault: LinkFault): () => void {
    this.#faults.push(fault);
    return () => {
      const at = this.#faults.indexOf(fault);
      if (at >= 0) this.#faults.splice(at, 1);
    };
  }

  isCut(from: string, to: string): boolean {
    return this.#faults.some((fault) => fault.cut === true && concerns(fault, from, to));
  }

  /** A message that may be lost, late or repeated: a call or its reply. */
  send(from: string, to: string, arrive: () => void): void {
    for (const fault of this.#faults) {
      if (!concerns(fault, from, to)) continue;
      if (fault.cut === true || (fault.loss !== undefined && chance(this.#random, fault.loss))) {
        if (fault.late !== undefined && chance(this.#random, fault.late)) this.#deliverLate(arrive);
        return;
      }
      if (fault.repeat !== undefined && chance(this.#random, fault.repeat)) this.#deliverLate(arrive);
    }
    this.#scheduler.after(this.travelMs(from, to), arrive);
  }

  /** The same, to that life of a process. */
  sendInto(from: string, process: SimProcess, life: number, run: () => void): void {
    if (this.#faults.length > 0) this.send(from, process.name, () => process.enter(life, run));
    else process.enterLater(this.travelMs(from, process.name), life, run);
  }

  /** A message on a connection that sends again until it is through: it is delayed where others are lost. */
  sendReliably(from: string, to: string, arrive: () => void): void {
    this.#scheduler.after(this.travelMs(from, to), arrive);
  }

  sendReliablyInto(from: string, process: SimProcess, life: number, run: () => void): void {
    process.enterLater(this.travelMs(from, process.name), life, run);
  }

  /** How long a message takes now. */
  travelMs(from: string, to: string): number {
    const { floorMs, meanMs, spikes, spikeMs } = this.#terms;
    let delay = floorMs + exponential(this.#random, meanMs);
    if (spikes > 0 && chance(this.#random, spikes)) delay += uniform(this.#random, spikeMs);
    for (const fault of this.#faults)
      if (fault.delayMs !== undefined && concerns(fault, from, to))
        delay += uniform(this.#random, fault.delayMs);
    return delay;
  }

  #deliverLate(arrive: () => void): void {
    this.#scheduler.after(uniform(this.#random, this.#terms.lateMs), arrive);
  }
}

function concerns(fault: LinkFault, from: string, to: string): boolean {
  return matches(fault.from, from) && matches(fault.to, to);
}

function matches(pattern: string, endpoint: string): boolean {
  return pattern === endpoint || (pattern === PROCESSES && !SERVERS.has(endpoint));
}
