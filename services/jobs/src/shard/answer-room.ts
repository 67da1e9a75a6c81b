/**
 * What fits into one answer. Jobs, results and rows may be half a MiB each, and many of them are more than a frame holds: lists end early and are read on, streams
 * come in parts, and a job with very much behind it is shown without the bytes of its oldest attempts.
 */
import { placeOfView, type AttemptOutcome, type JobView, type ListPage } from "../engine/index.ts";

/** Of one answer, or one item of a stream. A frame holds four times as much, so that one thing more never matters. */
const PART_BYTES = 4 * 1024 * 1024;
const NOTHING = new Uint8Array(0);

function bytesOfOutcome(outcome: AttemptOutcome | undefined): number {
  if (outcome === undefined || outcome.kind === "cancelled") return 0;
  return outcome.kind === "succeeded" ? outcome.result.length : outcome.data.length;
}

export function bytesOfView({ spec, attempts }: JobView): number {
  let bytes = spec.payload.length;
  for (const value of Object.values(spec.metadata ?? {})) bytes += value.length;
  for (const { outcome } of attempts) bytes += bytesOfOutcome(outcome);
  return bytes;
}

/** The newest attempts with everything, older ones without their bytes when all of them are too many. */
export function fittingView<V extends JobView>(view: V): V {
  if (bytesOfView(view) <= PART_BYTES) return view;
  let left = PART_BYTES;
  const attempts = [...view.attempts].reverse().map((attempt) => {
    left -= bytesOfOutcome(attempt.outcome);
    return left >= 0 ? attempt : { ...attempt, outcome: withoutBytes(attempt.outcome) };
  });
  return { ...view, attempts: attempts.reverse() };
}

function withoutBytes(outcome: AttemptOutcome | undefined): AttemptOutcome | undefined {
  if (outcome?.kind === "succeeded") return { ...outcome, result: NOTHING };
  return outcome?.kind === "failed" ? { ...outcome, data: NOTHING } : outcome;
}

/** As many as fit, the first of them always. */
export function fittingViews(views: readonly JobView[]): readonly JobView[] {
  return partsOf(views.map(fittingView), bytesOfView).next().value ?? [];
}

/** A page that is cut says where to read on. */
export function fittingPage({ jobs, next }: ListPage): ListPage {
  const fitting = fittingViews(jobs);
  return fitting.length === jobs.length
    ? { jobs: fitting, next }
    : { jobs: fitting, next: placeOfView(fitting.at(-1)!) };
}

/** In order, none of them empty. A thing that is too large by itself is a part by itself. */
export function* partsOf<T>(
  things: readonly T[],
  bytesOf: (thing: T) => number,
): Generator<readonly T[], undefined> {
  let [begin, bytes] = [0, 0];
  for (const [at, thing] of things.entries()) {
    const more = bytesOf(thing);
    if (at > begin && bytes + more > PART_BYTES) {
      yield things.slice(begin, at);
      [begin, bytes] = [at, 0];
    }
    bytes += more;
  }
  if (begin < things.length) yield begin === 0 ? things : things.slice(begin);
  return undefined;
}

/** Of the end of a job, for streams of results. */
export function bytesOfResult({ outcome }: { readonly outcome: AttemptOutcome | undefined }): number {
  return bytesOfOutcome(outcome);
}
