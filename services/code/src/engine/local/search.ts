/** A search of one index, from the side of the one who asks: splits it over threads, sets its time, and puts the parts together. */
import type { Timer } from "@keelson/kernel";
import { EngineError } from "../errors.ts";
import type { EngineQuery, FileTaker, SearchOptions } from "../query.ts";
import { averageBytes } from "../rank/bm25.ts";
import type { FileMatch, PartialReason, SearchCounts, SearchResult } from "../result.ts";
import { RECORD_WORDS, compareHits, type Hit } from "../search/hit.ts";
import { unpackHits } from "../search/packed-hits.ts";
import { word } from "../threads/cells.ts";
import type { SearchReply } from "../threads/protocol.ts";
import { EXPLAINED_BYTES, FILE_BYTES, bytesOfFile, bytesOfLine } from "../shown-bytes.ts";
import { Turns } from "../turns.ts";
import { materialize } from "./materialize.ts";
import type { MemoryIndex, OpenPart } from "./memory-index.ts";
import type { Running, SearchAsked } from "./searchers.ts";

const TIME_CAP_MS = 10_000;
/** Of its time cap a search keeps so much for ending: threads look whether to stop now and then, and what was found has to be handed on. Expressions made to hurt took up to 19 ms. */
const ENDING_MS = 40;
const ENDING_SHARE = 0.1;
/** Below this one thread is done before a second could help. */
const SPLIT_BYTES = 33_554_432;
/** About what a hit takes besides its matches. */
const HIT_BYTES = 300;

export async function searchIndex(
  index: MemoryIndex,
  query: EngineQuery,
  options: SearchOptions,
): Promise<SearchResult> {
  const parts = split(index, query);
  const run = new Run(index, options);
  try {
    const { filesShownMax = Number.MAX_SAFE_INTEGER, filesListedMax = 0 } = options;
    const filesMax = Math.max(filesShownMax, filesListedMax);
    const replies = await Promise.all(
      parts.map((range) => run.start(range, { query, filesMax, lines: false })),
    );
    const turns = new Turns();
    const hits = (await inOrder(index, replies, turns)).slice(0, filesMax);
    const files: FileMatch[] = [];
    const taker = options.taker ?? intoList(files);
    const foundBytes = bytesFound(replies);
    const shown = await show(index, hits.slice(0, filesShownMax), { ...options, taker, foundBytes }, turns);
    const listed = hits.slice(shown, filesListedMax).map((hit) => ({
      path: hit.path,
      language: partOf(index, hit.segment).segment.language(hit.document),
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
  const turns = new Turns();
  const pieces: Uint8Array[] = [];
  let wake: () => void = () => undefined;
  let finished = false;
  try {
    const asked = { query, filesMax: 0, lines: true };
    const reply = run
      .start([0, index.parts.length], asked, (piece) => {
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
        // What is taken is replaced at once, and the thread's port hands on whatever comes meanwhile: without this, all of an answer may leave in one turn.
        if (turns.due) await turns.give();
        run.taken();
      } else if (finished) break;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
    const ended = await reply;
    const { counts, partial } = run.sum([ended]);
    const last = Buffer.from(
      `${JSON.stringify({ done: true, ...counts, ...(partial === undefined ? {} : { partial }) })}\n`,
    );
    yield ended.tail === undefined ? last : Buffer.concat([ended.tail, last]);
  } finally {
    run.stop("cancelled");
    run.abandon();
    run.end();
  }
}

/** What one search shares with the threads that run it. */
class Run {
  readonly #index: MemoryIndex;
  readonly #options: SearchOptions;
  readonly #running: Running[] = [];
  readonly #timer: Timer;
  readonly #onAbort = (): void => this.stop("cancelled");
  #stopped: "time-cap" | "cancelled" | undefined;

  constructor(index: MemoryIndex, options: SearchOptions) {
    this.#index = index;
    this.#options = options;
    const { timeCapMs = TIME_CAP_MS } = options;
    const endingMs = Math.min(ENDING_MS, timeCapMs * ENDING_SHARE);
    this.#timer = index.ports.clock.after(timeCapMs - endingMs, () => this.stop("time-cap"));
    if (options.signal?.aborted === true) this.stop("cancelled");
    options.signal?.addEventListener("abort", this.#onAbort);
  }

  start(
    [from, to]: readonly [number, number],
    asked: Pick<SearchAsked, "query" | "filesMax" | "lines">,
    onPiece?: (piece: Uint8Array) => void,
  ): Promise<SearchReply> {
    const running = this.#index.ports.searchers.run(
      {
        ...asked,
        from,
        to,
        index: this.#index.number,
        bytesShownMax: this.#options.bytesShownMax ?? Number.MAX_SAFE_INTEGER,
        matchesMax: this.#options.matchesMax ?? Number.MAX_SAFE_INTEGER,
        firstOfLine: asked.lines && this.#options.firstOfLine === true,
        bm25: this.#options.bm25 === true,
      },
      onPiece,
    );
    this.#running.push(running);
    if (this.#stopped !== undefined) halt(running);
    return running.reply;
  }

  /** The first reason counts. */
  stop(reason: "time-cap" | "cancelled"): void {
    this.#stopped ??= reason;
    for (const each of this.#running) halt(each);
  }

  taken(): void {
    for (const { cell } of this.#running) {
      Atomics.sub(cell, word.inFlight, 1);
      Atomics.notify(cell, word.inFlight);
    }
  }

  /** Nobody looks at pieces any more. */
  abandon(): void {
    for (const { cell } of this.#running) Atomics.store(cell, word.inFlight, 0);
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
    if (stopped.includes("interrupted")) return { counts, partial: this.#stopped ?? "cancelled" };
    return stopped.includes("matches-max") ? { counts, partial: "matches-max" } : { counts };
  }

  end(): void {
    this.#timer.cancel();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    for (const each of this.#running) {
      // Where one part has failed, the others still run: they would go on without a time cap in memory that may be given to another index.
      halt(each);
      each.release();
    }
  }
}

function halt(running: Running): void {
  Atomics.store(running.cell, word.stop, 1);
  Atomics.notify(running.cell, word.inFlight);
  running.withdraw();
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

function partOf(index: MemoryIndex, segment: number): OpenPart {
  const part = index.opened[segment];
  if (part === undefined)
    throw new EngineError("CORRUPT_INDEX", `a thread knows a segment ${segment} that is not there`);
  return part;
}

/** What all threads found, best first. */
async function inOrder(index: MemoryIndex, replies: readonly SearchReply[], turns: Turns): Promise<Hit[]> {
  const pathOf = (segment: number, document: number): string => partOf(index, segment).segment.path(document);
  const parts = replies.flatMap(({ hits }) => (hits === undefined ? [] : [unpackHits(hits, pathOf)]));
  const heads = parts.map((part) => part.next());
  const hits: Hit[] = [];
  for (;;) {
    let best = -1;
    for (const [i, head] of heads.entries()) {
      const other = heads[best];
      if (head.done !== true && (other?.done !== false || compareHits(head.value, other.value) < 0)) best = i;
    }
    const found = heads[best];
    if (found === undefined || found.done === true) return hits;
    hits.push(found.value);
    heads[best] = parts[best]!.next();
    if (turns.due) await turns.give();
  }
}

/** What is kept of them until they are shown. */
function bytesFound(replies: readonly SearchReply[]): number {
  return replies.reduce(
    (sum, { hits }) => sum + (hits === undefined ? 0 : hits.words.byteLength + hits.count * HIT_BYTES),
    0,
  );
}

function intoList(files: FileMatch[]): FileTaker {
  return {
    begin: () => Promise.resolve(true),
    take: (file) => {
      files.push(file);
      return Promise.resolve();
    },
  };
}

/** Gives the taker as many as may be shown, and says how many that were. */
async function show(
  index: MemoryIndex,
  hits: readonly Hit[],
  options: SearchOptions & { readonly taker: FileTaker; readonly foundBytes: number },
  turns: Turns,
): Promise<number> {
  const { contextLines = 0, whole = false, bm25 = false, explain = false, taker } = options;
  let left = options.matchesShownMax ?? Number.MAX_SAFE_INTEGER;
  let bytesLeft = options.bytesShownMax ?? Number.MAX_SAFE_INTEGER;
  if (!(await taker.begin(bytesToShow(index, hits, options), options.foundBytes))) return 0;
  let shown = 0;
  for (const hit of hits) {
    if (left <= 0 || bytesLeft < 0) break;
    const steps = materialize(
      hit,
      { ...partOf(index, hit.segment), masks: index.masks, branches: index.branches },
      {
        contextLines,
        whole,
        explain,
        averageBytes: bm25 ? averageBytes(index.stats) : undefined,
        matchesMax: left,
        bytesMax: bytesLeft,
        inParts: taker.more !== undefined,
      },
    );
    for (let ended = false; !ended;) {
      const { value, done } = steps.next();
      ended = done === true;
      if (value !== undefined && "path" in value) {
        bytesLeft -= bytesOfFile(value);
        await taker.take(value);
      } else if (value !== undefined) {
        for (const line of value) bytesLeft -= bytesOfLine(line);
        await taker.more?.(value);
      }
      if (turns.due) await turns.give();
    }
    left -= Math.max(1, hit.records.length / RECORD_WORDS);
    shown += 1;
  }
  return shown;
}

/** About what is going to be shown; lines around a match are taken to be as long as the one that it is on. */
function bytesToShow(index: MemoryIndex, hits: readonly Hit[], options: SearchOptions): number {
  const { contextLines = 0, whole = false, explain = false } = options;
  const { bytesShownMax = Number.MAX_SAFE_INTEGER } = options;
  let left = options.matchesShownMax ?? Number.MAX_SAFE_INTEGER;
  let bytes = 0;
  for (const { segment, document, path, records, shownBytes } of hits) {
    if (left <= 0 || bytes > bytesShownMax) break;
    const matches = records.length / RECORD_WORDS;
    const share = Math.min(1, left / Math.max(1, matches));
    bytes += FILE_BYTES + path.length + Math.ceil(shownBytes * share) * (1 + 2 * contextLines);
    if (explain) bytes += EXPLAINED_BYTES * (1 + Math.min(left, matches));
    if (whole) bytes += partOf(index, segment).segment.contentBytes(document);
    left -= Math.max(1, matches);
  }
  return Math.min(bytes, bytesShownMax);
}
