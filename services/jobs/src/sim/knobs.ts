/** What decides a run, drawn from its seed. Every run is another mixture, so that rare combinations come up somewhere. */
import type { Chance } from "./chance.ts";

export interface Knobs {
  readonly durationMs: number;
  readonly tenants: number;
  readonly groups: number;
  readonly workers: number;
  readonly producers: number;
  readonly limitKeys: number;
  readonly limitMax: number;
  readonly dedupeKeys: number;
  readonly leaseMs: number;
  readonly lostLeasesMax: number;
  /** Mean time between crashes; Infinity for none. */
  readonly crashEveryMs: number;
  readonly replyLost: number;
  readonly requestLost: number;
  readonly requestDoubled: number;
  readonly workerVanishes: number;
  readonly slowFlush: number;
  readonly failingFlush: number;
  readonly checkpointing: number;
  readonly clockJumps: boolean;
  readonly limited: number;
  readonly rated: number;
  readonly deduped: number;
  readonly flows: number;
  readonly steering: number;
  /** Jobs of which nothing is kept. */
  readonly fleeting: number;
}

export function drawKnobs(chance: Chance): Knobs {
  const calm = chance.yes(0.15);
  const sometimes = (most: number): number => (calm || chance.yes(0.4) ? 0 : chance.next() * most);
  return {
    durationMs: chance.whole(5000, 60_000),
    tenants: chance.whole(1, 4),
    groups: chance.whole(1, 3),
    workers: chance.whole(1, 5),
    producers: chance.whole(1, 3),
    limitKeys: chance.whole(1, 4),
    limitMax: chance.whole(1, 3),
    dedupeKeys: chance.whole(1, 3),
    leaseMs: chance.pick([500, 2000, 10_000]),
    lostLeasesMax: chance.whole(1, 3),
    crashEveryMs: calm || chance.yes(0.3) ? Infinity : chance.whole(500, 20_000),
    replyLost: sometimes(0.3),
    requestLost: sometimes(0.2),
    requestDoubled: sometimes(0.3),
    workerVanishes: sometimes(0.3),
    slowFlush: sometimes(0.05),
    failingFlush: sometimes(0.02),
    checkpointing: chance.yes(0.3) ? 0 : chance.next() * 0.2,
    clockJumps: !calm && chance.yes(0.3),
    limited: chance.yes(0.3) ? 0 : chance.next(),
    rated: chance.yes(0.6) ? 0 : chance.next() * 0.3,
    deduped: chance.yes(0.4) ? 0 : chance.next() * 0.5,
    flows: chance.yes(0.4) ? 0 : chance.next() * 0.3,
    steering: chance.yes(0.3) ? 0 : chance.next() * 0.2,
    fleeting: chance.yes(0.6) ? 0 : chance.next() * 0.5,
  };
}
