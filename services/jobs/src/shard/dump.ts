/**
 * A shard as the keys of the design that it follows: `jobs/…`, `attempts/…`, `tasks/…`, `lease/…`, `idx/status_ts/…`. The bytes on disk are laid out otherwise
 * (docs/design/jobs-storage.md says how and why); this is the logical view of them, for people and for comparing.
 */
import { decodeValue } from "../client/values.ts";
import { isFinal, type AttemptView, type JobView, type LeaseView } from "../engine/index.ts";

export interface DumpLine {
  readonly key: string;
  readonly value: unknown;
}

const U64_MAX = (1n << 64n) - 1n;

/** The keys of one job. `lease` is that of its running attempt. */
export function* dumpJob(view: JobView, lease: LeaseView | undefined): Generator<DumpLine> {
  const { spec, status, statusAtMs } = view;
  const { tenant, id } = spec;
  yield { key: `jobs/${tenant}/${id}`, value: { ...spec, payload: decodeValue(spec.payload), status } };
  for (const attempt of view.attempts)
    yield { key: `attempts/${tenant}/${id}/${attempt.number}`, value: attemptOf(attempt) };
  const inverse = (U64_MAX - BigInt(Math.trunc(statusAtMs))).toString().padStart(20, "0");
  yield { key: `idx/status_ts/${tenant}/${status}/${inverse}/${id}`, value: null };
  if (lease !== undefined) {
    const { task, worker, attempt, deadlineMs } = lease;
    yield { key: `lease/${task}`, value: { worker, tenant, job: id, attempt, deadlineMs } };
  } else if (!isFinal(status)) {
    const start = String(view.startAtMs).padStart(16, "0");
    const priority = String(spec.priority ?? 50).padStart(2, "0");
    const attempt = (view.attempts.at(-1)?.number ?? 0) + 1;
    yield {
      key: `tasks/${start}/${priority}/${id}/${attempt}`,
      value: { tenant, group: spec.group, waitsFor: view.waitsFor },
    };
  }
}

function attemptOf({ outcome, ...attempt }: AttemptView): unknown {
  if (outcome === undefined) return attempt;
  if (outcome.kind === "succeeded")
    return { ...attempt, outcome: "succeeded", result: decodeValue(outcome.result) };
  if (outcome.kind === "cancelled") return { ...attempt, outcome: "cancelled" };
  return { ...attempt, outcome: "failed", code: outcome.code, data: decodeValue(outcome.data) };
}
