/**
 * What must be true of every run, read from its history.
 *
 * Overlaps. At one true instant at most one process admits for a replica, and epochs rise: so every admission under a lower epoch comes before every
 * admission under a higher one, and an epoch belongs to one process. An instant is the clock reading that the admission check compared with its deadline, on a clock that all processes share;
 * a correct fleet therefore cannot be accused, however its processes were stopped. A pair of epochs that breaks the order is one overlap.
 *
 * Stale writes. The resource never accepts an epoch lower than one it has seen. Lost updates: each accepted write adds one to what the one before it left.
 */
import { NO_EPOCH, compareEpochs, formatEpoch, type Epoch } from "@keelson/kernel";
import type { TenureSpan } from "./tenures.ts";

export interface Violation {
  readonly kind: "overlap" | "stale-write" | "lost-update" | "stale-answer";
  readonly what: string;
}

const NS_PER_MS = 1e6;

/** All tenures of one shard's replica. */
export function overlaps(spans: readonly TenureSpan[]): Violation[] {
  const violations: Violation[] = [];
  const ordered = spans.toSorted((a, b) => compareEpochs(a.epoch, b.epoch));
  let latest: TenureSpan | undefined;
  for (const span of ordered) {
    if (latest) {
      const same = compareEpochs(latest.epoch, span.epoch) === 0;
      if (same || latest.lastNs > span.firstNs) violations.push(overlap(latest, span, same));
    }
    if (!latest || span.lastNs > latest.lastNs) latest = span;
  }
  return violations;
}

function overlap(lower: TenureSpan, higher: TenureSpan, same: boolean): Violation {
  const both = `shard ${lower.shard}: ${describe(lower)} and ${describe(higher)}`;
  const lastedMs = (lower.lastNs - higher.firstNs) / NS_PER_MS;
  const what = same
    ? `${both}: one epoch, two processes`
    : `${both}: the first still admitted ${lastedMs.toFixed(1)} ms after the second had begun`;
  return { kind: "overlap", what };
}

function describe({ process, epoch }: TenureSpan): string {
  return `${process} under ${formatEpoch(epoch)}`;
}

/** Follows what the resource heard, in the order in which it heard it. */
export class WriteChecks {
  readonly violations: Violation[] = [];
  readonly #shards = new Map<string, { epoch: Epoch; value: number }>();

  raised(shard: string, epoch: Epoch): void {
    const seen = this.#seen(shard);
    if (compareEpochs(epoch, seen.epoch) > 0) seen.epoch = epoch;
  }

  wrote(shard: string, epoch: Epoch, value: number): void {
    const seen = this.#seen(shard);
    if (compareEpochs(epoch, seen.epoch) < 0)
      this.#violation(
        "stale-write",
        `shard ${shard}: a write under ${formatEpoch(epoch)} was accepted after ${formatEpoch(seen.epoch)} had been seen`,
      );
    if (value !== seen.value + 1)
      this.#violation(
        "lost-update",
        `shard ${shard}: a write under ${formatEpoch(epoch)} made ${value} out of ${seen.value}`,
      );
    seen.value = value;
    this.raised(shard, epoch);
  }

  #seen(shard: string): { epoch: Epoch; value: number } {
    let seen = this.#shards.get(shard);
    if (!seen) this.#shards.set(shard, (seen = { epoch: NO_EPOCH, value: 0 }));
    return seen;
  }

  #violation(kind: Violation["kind"], what: string): void {
    this.violations.push({ kind, what });
  }
}

/** When an epoch first answered somebody. */
interface FirstAnswer {
  readonly epoch: Epoch;
  readonly atNs: number;
}

/**
 * Seen from outside: a request that was sent after an answer from a higher epoch had arrived is never answered by a lower one. It needs nothing that nodes
 * write down about themselves.
 */
export class AnswerChecks {
  readonly violations: Violation[] = [];
  /** By shard: rising epochs, oldest first. There are as many as tenures that answered. */
  readonly #firsts = new Map<string, FirstAnswer[]>();

  answered(shard: string, epoch: Epoch, sentAtNs: number, atNs: number): void {
    let firsts = this.#firsts.get(shard);
    if (!firsts) this.#firsts.set(shard, (firsts = []));
    const before = firsts.findLast((first) => first.atNs < sentAtNs);
    if (before && compareEpochs(epoch, before.epoch) < 0)
      this.violations.push({
        kind: "stale-answer",
        what: `shard ${shard}: an answer under ${formatEpoch(epoch)} to a request sent after one under ${formatEpoch(before.epoch)} had been answered`,
      });
    const highest = firsts.at(-1)?.epoch ?? NO_EPOCH;
    if (compareEpochs(epoch, highest) > 0) firsts.push({ epoch, atNs });
  }
}
