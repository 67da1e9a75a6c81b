/** A search of one index, from the side of the one who asks: splits it over threads, sets its time, and puts the parts together. */
import type { Timer } from "@keelson/kernel";
import { EngineError } from "../errors.ts";
import type { EngineQuery, SearchOptions } from "../query.ts";
import type { FileMatch, PartialReason, SearchCounts, SearchResult } from "../result.ts";
import { RECORD_WORDS, compareHits, type Hit } from "../search/hit.ts";
import { CONTROL_BYTES, control, type SearchJob, type SearchReply } from "../threads/protocol.ts";
import { breath } from "./breath.ts";
import { bytesOf, materialize } from "./materialize.ts";
import type { MemoryIndex, OpenPart } from "./memory-index.ts";

const TIME_CAP_MS = 10_000;
/** Below this one thread is done before a second could help. */
const SPLIT_BYTES = 33_554_432;
/** Matches put together between two breaths. */
const MATCHES_PER_STEP = 2_000;
const TIME_IS_UP = 1;
const CANCELLED = 2;

export async function searchIndex(
  index: MemoryIndex,
  query: EngineQuery,
  options: SearchOptions,
): Promise<SearchResult> {
  const run = new Run(index, options);
  try {
    const parts = split(index, query);
    const { filesShownMax = Number.MAX_SAFE_INTEGER, filesListedMax = 0 } = options;
    const filesMax = Math.max(filesShownMax, filesListedMax);
    const replies = await Promise.all(
      parts.map(([from, to]) => index.ports.searchers.run(run.job(query, from, to, filesMax, false))),
    );
    const hits = replies
      .flatMap((reply) => reply.hits)
      .sort(compareHits)
      .slice(0, filesMax);
    const files = await show(index, hits.slice(0, filesShownMax), options);
    const listed = hits.slice(files.length, filesListedMax).map((hit) => ({
      path: hit.path,
      language: partOf(index, hit).segment.language(hit.document),
    }));
    return { files, ...(filesListedMax > 0 ? { listed } : {}), ...run.sum(replies) };
  } finally {
    run.end();
  }
}

export async function* searchIndexLines(
  index: MemoryIndex,
  query: EngineQuery,
  options: SearchOptions,
): AsyncGenerator<Uint8Array> {
  const run = new Run(index, options);
  const pieces: Uint8Array[] = [];
  let wake: () => void = () => undefined;
  let finished = false;
  try {
    const job = run.job(query, 0, index.parts.length, 0, true);
    const reply = index.ports.searchers
      .run(job, (piece) => {
        pieces.push(piece);
        wake();
      })
      .finally(() => {
        finished = true;
        wake();
      });
    // It is awaited below, but only after the pieces; until then nothing else may take its failure for unhandled.
    reply.catch(() => undefined);
    for (;;) {
      const piece = pieces.shift();
      if (piece !== undefined) {
        yield piece;
        run.taken();
      } else if (finished) break;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
    const { counts, partial } = run.sum([await reply]);
    yield Buffer.from(
      `${JSON.stringify({ done: true, ...counts, ...(partial === undefined ? {} : { partial }) })}\n`,
    );
  } finally {
    run.stop(CANCELLED);
    run.abandon();
    run.end();
  }
}

/** What one search shares with the threads that run it. */
class Run {
  readonly #index: MemoryIndex;
  readonly #options: SearchOptions;
  readonly #control = new SharedArrayBuffer(CONTROL_BYTES);
  readonly #flags = new Int32Array(this.#control);
  readonly #timer: Timer;
  readonly #onAbort = (): void => this.stop(CANCELLED);

  constructor(index: MemoryIndex, options: SearchOptions) {
    this.#index = index;
    this.#options = options;
    this.#timer = index.ports.clock.after(options.timeCapMs ?? TIME_CAP_MS, () => this.stop(TIME_IS_UP));
    if (options.signal?.aborted === true) this.stop(CANCELLED);
    options.signal?.addEventListener("abort", this.#onAbort);
  }

  job(
    query: EngineQuery,
    from: number,
    to: number,
    filesMax: number,
    lines: boolean,
  ): Omit<SearchJob, "job"> {
    return {
      index: this.#index.number,
      query,
      from,
      to,
      filesMax,
      matchesMax: this.#options.matchesMax ?? Number.MAX_SAFE_INTEGER,
      control: this.#control,
      lines,
      firstOfLine: lines && this.#options.firstOfLine === true,
    };
  }

  stop(reason: number): void {
    Atomics.compareExchange(this.#flags, control.stop, 0, reason);
    Atomics.notify(this.#flags, control.inFlight);
  }

  taken(): void {
    Atomics.sub(this.#flags, control.inFlight, 1);
    Atomics.notify(this.#flags, control.inFlight);
  }

  /** Nobody looks at pieces any more. */
  abandon(): void {
    Atomics.store(this.#flags, control.inFlight, 0);
  }

  sum(replies: readonly SearchReply[]): { counts: SearchCounts; partial?: PartialReason } {
    const total = (field: keyof SearchCounts): number =>
      replies.reduce((sum, { counts }) => sum + counts[field], 0);
    const counts = {
      files: total("files"),
      lines: total("lines"),
      matches: total("matches"),
      documents: this.#index.stats.documents,
      documentsScanned: total("documentsScanned"),
      bytesScanned: total("bytesScanned"),
    };
    const stopped = replies.map((reply) => reply.stopped);
    if (stopped.includes("interrupted"))
      return { counts, partial: this.#flags[control.stop] === TIME_IS_UP ? "time-cap" : "cancelled" };
    return stopped.includes("matches-max") ? { counts, partial: "matches-max" } : { counts };
  }

  end(): void {
    this.#timer.cancel();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Ranges of segments, one per job. A search for a word of some length is over before a second thread has started. */
function split(index: MemoryIndex, query: EngineQuery): [number, number][] {
  const segments = index.parts.length;
  const jobs =
    index.stats.contentBytes < SPLIT_BYTES || isSelective(query) ? 1 : index.ports.searchers.threads;
  const each = Math.max(1, Math.ceil(segments / jobs));
  const parts: [number, number][] = [];
  for (let from = 0; from < segments; from += each) parts.push([from, Math.min(segments, from + each)]);
  return parts.length === 0 ? [[0, 0]] : parts;
}

function isSelective(query: EngineQuery): boolean {
  switch (query.kind) {
    case "substring":
      return query.text.length > 4;
    case "regex":
      return /\w{5}/.test(query.pattern);
    case "symbol":
    case "boost":
    case "type":
      return isSelective(query.of);
    case "and":
      return query.of.some((each) => isSelective(each));
    case "or":
      return query.of.every((each) => isSelective(each));
    case "none":
    case "paths":
      return true;
    case "not":
    case "branch":
    case "language":
    case "all":
      return false;
  }
}

function partOf(index: MemoryIndex, hit: Hit): OpenPart {
  const part = index.opened[hit.segment];
  if (part === undefined)
    throw new EngineError("CORRUPT_INDEX", `a thread knows a segment ${hit.segment} that is not there`);
  return part;
}

async function show(index: MemoryIndex, hits: readonly Hit[], options: SearchOptions): Promise<FileMatch[]> {
  const files: FileMatch[] = [];
  let left = options.matchesShownMax ?? Number.MAX_SAFE_INTEGER;
  let bytesLeft = options.bytesShownMax ?? Number.MAX_SAFE_INTEGER;
  let step = 0;
  for (const hit of hits) {
    if (left <= 0 || bytesLeft < 0) break;
    const { contextLines = 0, whole = false } = options;
    const file = materialize(
      hit,
      { ...partOf(index, hit), masks: index.masks, branches: index.branches },
      { contextLines, whole, matchesMax: left, bytesMax: bytesLeft },
    );
    files.push(file);
    bytesLeft -= file.lines.reduce((sum, line) => sum + bytesOf(line), file.content?.length ?? 0);
    const shown = Math.max(1, hit.records.length / RECORD_WORDS);
    left -= shown;
    step += shown;
    if (step >= MATCHES_PER_STEP) {
      step = 0;
      await breath();
    }
  }
  return files;
}
