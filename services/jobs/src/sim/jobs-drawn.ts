/** Draws jobs of every kind. A key always has the same maximum and the same mode, so that the checker knows what to expect. */
import type { Dedupe, JobSpec, Limit } from "../engine/model/job-spec.ts";
import type { Chance } from "./chance.ts";
import type { Knobs } from "./knobs.ts";

export function drawJob(
  chance: Chance,
  knobs: Knobs,
  number: number,
  known: readonly string[],
  wallMs: number,
): JobSpec {
  const tenant = `t${chance.whole(1, knobs.tenants)}`;
  const dedupe = chance.yes(knobs.deduped) ? drawDedupe(chance, knobs) : undefined;
  const others = known
    .filter((name) => name.startsWith(`${tenant}/`))
    .map((name) => name.slice(tenant.length + 1));
  const after =
    dedupe === undefined && others.length > 0 && chance.yes(knobs.flows)
      ? Array.from({ length: chance.whole(1, 3) }, () => chance.pick(others))
      : undefined;
  return {
    id: `j${number}`,
    tenant,
    group: `g${chance.whole(1, knobs.groups)}`,
    payload: Buffer.from(String(number)),
    priority: chance.whole(0, 99),
    startAtMs: chance.yes(0.2) ? wallMs + chance.whole(-1000, 5000) : undefined,
    retry: chance.yes(0.5)
      ? {
          retries: chance.whole(0, 3),
          initialMs: chance.whole(0, 500),
          maxMs: 2000,
          factor: 2,
          jitter: chance.yes(0.5),
        }
      : undefined,
    limits: drawLimits(chance, knobs),
    metadata: chance.yes(0.2) ? { colour: chance.pick(["red", "blue"]) } : undefined,
    timeoutMs: chance.yes(0.05) ? chance.whole(100, 3000) : undefined,
    retentionMs: chance.yes(knobs.fleeting) ? 0 : undefined,
    after,
    onDependencyFailure: after !== undefined && chance.yes(0.5) ? "run" : undefined,
    dedupe,
  };
}

function drawLimits(chance: Chance, knobs: Knobs): Limit[] | undefined {
  const limits: Limit[] = [];
  if (chance.yes(knobs.limited))
    for (let left = chance.whole(1, 3); left > 0; left--) {
      const key = chance.whole(1, knobs.limitKeys);
      limits.push({ kind: "concurrency", key: `k${key}`, max: 1 + ((key + knobs.limitMax) % 3) });
    }
  if (chance.yes(knobs.rated))
    limits.push({
      kind: "rate",
      name: "r",
      uniqueKey: `u${chance.whole(1, 2)}`,
      limit: 10,
      durationMs: 500,
      hits: 1,
      algorithm: 0,
      behavior: 0,
      burst: 0,
      backoff: { initialMs: 10, maxMs: 100, factor: 2 },
    });
  return limits.length === 0 ? undefined : limits;
}

function drawDedupe(chance: Chance, knobs: Knobs): Dedupe {
  const number = chance.whole(1, knobs.dedupeKeys);
  const key = `d${number}`;
  if (number % 3 === 0) return { key, mode: "unique" };
  return number % 3 === 1
    ? { key, mode: "debounce", waitMs: 300, maxWaitMs: 1000 }
    : { key, mode: "throttle", windowMs: 700 };
}
