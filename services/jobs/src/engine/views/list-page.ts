/** A part of a list of jobs, and where the next part begins: lists are read in parts, and each part looks at only so much. */
import type { JobView } from "../model/views.ts";

/** A place in a list. What comes after it is older, or has a greater id. */
export interface ListCursor {
  readonly statusAtMs: number;
  readonly id: string;
}

export interface ListPage<T = JobView> {
  /** In the order of lists; fewer than were asked for also when there are more, because only so many are looked at. */
  readonly jobs: readonly T[];
  /** There may be more after this; undefined: there are not. */
  readonly next?: ListCursor | undefined;
}

/** The order of lists: newest first by time of the last change of status, then by id. */
export function listedBefore(a: ListCursor, b: ListCursor): boolean {
  return a.statusAtMs === b.statusAtMs ? a.id < b.id : a.statusAtMs > b.statusAtMs;
}

/** One list out of parts of several, none of which has what another has. Beyond the first place where one of them stopped nothing is known. */
export function mergePages<T>(
  pages: readonly ListPage<T>[],
  limit: number,
  placeOf: (job: T) => ListCursor,
): ListPage<T> {
  let end: ListCursor | undefined;
  for (const { next } of pages)
    if (next !== undefined && (end === undefined || listedBefore(next, end))) end = next;
  const placed = pages
    .flatMap(({ jobs }) => jobs)
    .map((job) => ({ job, place: placeOf(job) }))
    .filter(({ place }) => end === undefined || !listedBefore(end, place))
    .sort((a, b) => (listedBefore(a.place, b.place) ? -1 : listedBefore(b.place, a.place) ? 1 : 0));
  const jobs = placed.slice(0, limit).map(({ job }) => job);
  return { jobs, next: placed.length > limit ? (placed[limit - 1] as { place: ListCursor }).place : end };
}

/** As an answer over the wire and to HTTP has it. */
export function placeOfView({ statusAtMs, spec }: JobView): ListCursor {
  return { statusAtMs, id: spec.id };
}
