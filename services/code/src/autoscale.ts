/**
 * Whether the fleet wants more or fewer nodes. Pure: facts in, a wish with its reasons out. More are wanted as soon as something is wrong, but for busy processors, which are ordinary while
 * much is built; fewer only after the fleet has been quiet for long, and whoever takes a node away drains it first.
 */
export interface FleetFacts {
  /** Replicas of active repositories that nobody holds. */
  readonly unclaimed: number;
  /** How long the one that has waited longest has waited. */
  readonly unclaimedMsMax: number;
  readonly claimLatencyMs: number;
  /** Share of the fleet's memory that is taken, 0 to 1. */
  readonly saturation: number;
  /** Lots that nobody had room for, round after round, and what they need. */
  readonly demanded: number;
  readonly demandedBytes: number;
  /** Share of a processor that the busiest node uses; undefined while one of them has not said. */
  readonly cpu: number | undefined;
  /** Share of the fleet's processors that is used, 0 to 1; undefined while a node has not said. */
  readonly processors: number | undefined;
  /** Claims in the last look. */
  readonly claims: number;
  readonly nodes: number;
}

export interface ScaleTerms {
  readonly unclaimedMax: number;
  readonly claimLatencyMsMax: number;
  readonly saturationMax: number;
  readonly processorsMax: number;
  readonly saturationLow: number;
  readonly sustainMs: number;
}

export interface ScaleWish {
  readonly direction: "up" | "down" | "none";
  /** What led to it, without numbers: when these change, it is another wish. */
  readonly signals: readonly ScaleSignal[];
  readonly reasons: readonly string[];
}

type ScaleSignal = "demanded" | "unclaimed" | "claim latency" | "saturation" | "processors" | "quiet";

/** What a quiet fleet uses of its processors, at most. */
const cpuLow = 0.2;
/** Unclaimed repositories are ordinary for a moment: a fleet that starts has nothing else. */
const unclaimedGraceMs = 15_000;

export class Autoscaler {
  readonly #terms: ScaleTerms;
  #quietSince: number | undefined;
  #busySince: number | undefined;

  constructor(terms: ScaleTerms) {
    this.#terms = terms;
  }

  judge(facts: FleetFacts, now: number): ScaleWish {
    const up = this.#up(facts, now);
    if (up.size > 0) {
      this.#quietSince = undefined;
      return { direction: "up", signals: [...up.keys()], reasons: [...up.values()] };
    }
    const { saturationLow, sustainMs } = this.#terms;
    const { cpu, nodes, claims } = facts;
    const quiet = nodes > 1 && claims === 0 && facts.saturation < saturationLow;
    // A node that has not said may be busy.
    if (!quiet || cpu === undefined || cpu >= cpuLow) {
      this.#quietSince = undefined;
      return NONE;
    }
    this.#quietSince ??= now;
    if (now - this.#quietSince < sustainMs) return NONE;
    const saturation = percent(facts.saturation);
    return {
      direction: "down",
      signals: ["quiet"],
      reasons: [
        `no claims, at most ${percent(cpu)} % of a processor on any node and ${saturation} % of memory in use for ${sustainMs} ms: drain a node, then end it`,
      ],
    };
  }

  #up(facts: FleetFacts, now: number): Map<ScaleSignal, string> {
    const { unclaimedMax, claimLatencyMsMax, saturationMax } = this.#terms;
    const reasons = new Map<ScaleSignal, string>();
    if (facts.demanded > 0)
      reasons.set(
        "demanded",
        `${facts.demanded} repositories fit on no node; they need ${facts.demandedBytes} bytes`,
      );
    if (facts.unclaimed > unclaimedMax && facts.unclaimedMsMax > unclaimedGraceMs)
      reasons.set("unclaimed", `${facts.unclaimed} repositories are held by nobody`);
    if (facts.claimLatencyMs > claimLatencyMsMax)
      reasons.set("claim latency", `a claim takes ${Math.round(facts.claimLatencyMs)} ms`);
    if (facts.saturation > saturationMax)
      reasons.set("saturation", `${percent(facts.saturation)} % of the memory is taken`);
    const { processors = 0 } = facts;
    if (this.#isBusy(processors, now))
      reasons.set("processors", `${percent(processors)} % of the processors are in use, for long`);
    return reasons;
  }

  #isBusy(processors: number, now: number): boolean {
    const { processorsMax, sustainMs } = this.#terms;
    if (processors <= processorsMax) this.#busySince = undefined;
    else this.#busySince ??= now;
    return this.#busySince !== undefined && now - this.#busySince >= sustainMs;
  }
}

const NONE: ScaleWish = { direction: "none", signals: [], reasons: [] };

function percent(share: number): number {
  return Math.round(share * 100);
}
