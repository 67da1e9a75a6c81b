/**
 * A searching thread: keeps its own view of arenas and indexes, and runs one search after another, those that were not given to another thread meanwhile. It has no clock: who
 * asks also says when to stop.
 */
import { parentPort, workerData } from "node:worker_threads";
import { EngineError } from "../errors.ts";
import { RESERVED_BYTES, openKernels } from "../kernels/kernels.ts";
import { copyBytes } from "../memory/copy-bytes.ts";
import { SCRATCH_BYTES } from "../memory/scratch.ts";
import type { EngineQuery } from "../query.ts";
import { execute, type Outcome, type Sink } from "../search/executor.ts";
import { HitSink } from "../search/hit-sink.ts";
import { Interrupted } from "../search/interrupted.ts";
import { LineSink } from "../search/line-sink.ts";
import { packHits, type PackedHits } from "../search/packed-hits.ts";
import { BranchMasks, type OpenSegment, type ThreadArena } from "../search/open-segment.ts";
import { Segment } from "../segment/segment.ts";
import { SymbolTable } from "../segment/symbols.ts";
import { THROUGH, before, begunBy, cellOf, word } from "./cells.ts";
import {
  unpackJobs,
  type FromSearcher,
  type IndexPlace,
  type PackedJobs,
  type SearchJob,
  type SearchTerms,
  type ToSearcher,
} from "./protocol.ts";
import { ReplyPacker } from "./replies.ts";
import { collectLeftovers } from "./leftovers.ts";
import { stepBack } from "./step-back.ts";

/** Pieces of an answer that may wait to be taken before the search waits too. */
const PIECES_MAX = 4;
/** Smaller pieces are copies of their own. */
const RING_BYTES_MIN = 65_536;
const SLOT_BYTES = 1_048_576;
const WAIT_MS = 50;
/** Replies wait so long for others of the same message, and no longer: the next search may take seconds. */
const REPLIES_MS = 2;
/** Of their hits and last lines; more are not worth copying together. */
const REPLIES_BYTES_MAX = 262_144;

stepBack("searching");
const { thread } = workerData as { readonly thread: number };
const port = parentPort!;
const arenas: ThreadArena[] = [];
const boards: SharedArrayBuffer[] = [];
const indexes = new Map<
  number,
  {
    readonly branches: readonly string[];
    readonly segments: readonly OpenSegment[];
    readonly averageBytes: number;
  }
>();

port.on("message", (message: ToSearcher) => {
  switch (message.kind) {
    case "arena": {
      const { buffer } = message.memory;
      arenas[message.number] = {
        memory: buffer,
        kernels: openKernels(message.memory),
        bytes: new Uint8Array(buffer),
        words: new Uint32Array(buffer),
        scratch: RESERVED_BYTES + thread * SCRATCH_BYTES,
      };
      break;
    }
    case "open":
      indexes.set(message.place.index, {
        branches: message.place.branches,
        segments: openSegments(message.place),
        averageBytes: message.place.averageBytes,
      });
      break;
    case "close":
      indexes.delete(message.index);
      break;
    case "board":
      boards[message.number] = message.memory;
      break;
    case "search":
      runAll(message.terms, message.jobs);
      break;
  }
});

function openSegments(place: IndexPlace): OpenSegment[] {
  const masks = new BranchMasks(place.masks, place.branches.length);
  return place.segments.map(({ arena: arenaNumber, start, firstDocument, symbols }) => {
    const arena = arenas[arenaNumber]!;
    return {
      segment: new Segment(arena.bytes, start),
      arenaNumber,
      arena,
      symbols:
        symbols &&
        new SymbolTable(arenas[symbols.arena]!.bytes.subarray(symbols.start, symbols.start + symbols.bytes)),
      firstDocument,
      masks,
    };
  });
}

/**
 * Where large pieces lie until they are taken: as memory of their own they would be garbage by the hundred megabytes before anyone collects it. It belongs to
 * the job whose pieces are in it, until the last is taken.
 */
let ring: { readonly bytes: Uint8Array; job: number; cell: Int32Array } | undefined;

function ringOf(job: number): Uint8Array {
  if (ring === undefined || (ring.job !== job && Atomics.load(ring.cell, word.inFlight) !== 0)) {
    const memory = new SharedArrayBuffer(PIECES_MAX * SLOT_BYTES);
    ring = { bytes: new Uint8Array(memory), job, cell };
    post({ kind: "ring", memory });
  }
  ring.job = job;
  ring.cell = cell;
  return ring.bytes;
}

/** Of the search that runs. */
let cell = new Int32Array(new SharedArrayBuffer(16));
const replies = new ReplyPacker();
let repliesSince = 0;

function checkpoint(): void {
  cell[word.beats]! += 1;
  if (replies.count > 0 && performance.now() - repliesSince > REPLIES_MS) sendReplies();
  if (Atomics.load(cell, word.stop) !== 0) throw new Interrupted();
}

function runAll(terms: SearchTerms, jobs: PackedJobs): void {
  const query = JSON.parse(terms.query) as EngineQuery;
  for (const job of unpackJobs(jobs)) run(query, terms, job);
  sendReplies();
  collectLeftovers();
}

function run(query: EngineQuery, terms: SearchTerms, job: SearchJob): void {
  cell = cellOf(boards, job.cell);
  const mine = before(thread, job.job);
  if (Atomics.compareExchange(cell, word.claim, mine, begunBy(thread, job.job)) !== mine) return;
  try {
    if (terms.lines) {
      let pieces = 0;
      let ends = false;
      let tail: Uint8Array | undefined;
      const sink = new LineSink((piece) => {
        if (ends && piece.length < RING_BYTES_MIN) tail = piece.slice();
        else send(job, piece, pieces++);
      }, terms.firstOfLine);
      const outcome = search(query, terms, job, sink);
      ends = true;
      // Whoever stopped the search gets what was complete by then.
      if (outcome.stopped !== "interrupted") sink.finish();
      reply(job, outcome, undefined, tail);
    } else {
      const averageBytes = terms.bm25 ? indexes.get(job.index)?.averageBytes : undefined;
      const sink = new HitSink(terms.filesMax, terms.bytesShownMax, averageBytes);
      let outcome: Outcome;
      let hits: PackedHits;
      try {
        outcome = search(query, terms, job, sink);
        hits = packHits(sink.sorted());
      } finally {
        sink.release();
      }
      reply(job, outcome, hits);
    }
  } catch (error) {
    const known = error instanceof EngineError ? error : undefined;
    const message = error instanceof Error ? (known?.message ?? error.stack ?? error.message) : String(error);
    // Before it is told: whoever hears of it may give the cell to the next search at once.
    Atomics.store(cell, word.claim, THROUGH);
    post({ kind: "failed", job: job.job, code: known?.code, message, position: known?.position });
    return;
  }
  // Replies leave after this.
  Atomics.store(cell, word.claim, THROUGH);
}

function reply({ job }: SearchJob, outcome: Outcome, hits: PackedHits | undefined, tail?: Uint8Array): void {
  const bytes = (hits?.words.byteLength ?? 0) + (tail?.length ?? 0);
  if (replies.count > 0 && replies.bytes + bytes > REPLIES_BYTES_MAX) sendReplies();
  if (replies.count === 0) repliesSince = performance.now();
  replies.add(job, outcome, hits, tail);
}

function sendReplies(): void {
  if (replies.count === 0) return;
  const packed = replies.take();
  const owned = [packed.numbers, packed.words, ...(packed.tails === undefined ? [] : [packed.tails])];
  post(
    { kind: "done", ...packed },
    owned.map(({ buffer }) => buffer as ArrayBuffer),
  );
}

function search(query: EngineQuery, terms: SearchTerms, job: SearchJob, sink: Sink): Outcome {
  const index = indexes.get(job.index);
  if (index === undefined) throw new EngineError("CLOSED", "the index was released");
  const segments = index.segments.map((open, number) => ({ open, number })).slice(job.from, job.to);
  const { matchesMax, firstOfLine } = terms;
  return execute(query, segments, { branches: index.branches, matchesMax, firstOfLine, checkpoint }, sink);
}

function send(job: SearchJob, piece: Uint8Array, number: number): void {
  for (;;) {
    const inFlight = Atomics.load(cell, word.inFlight);
    if (inFlight < PIECES_MAX) break;
    checkpoint();
    Atomics.wait(cell, word.inFlight, inFlight, WAIT_MS);
  }
  if (piece.length < RING_BYTES_MIN || piece.length > SLOT_BYTES) {
    const own = piece.slice();
    Atomics.add(cell, word.inFlight, 1);
    post({ kind: "piece", job: job.job, piece: own }, [own.buffer]);
    return;
  }
  // Pieces are taken in order, so the one that was here before is.
  const from = (number % PIECES_MAX) * SLOT_BYTES;
  copyBytes(piece, ringOf(job.job), from);
  Atomics.add(cell, word.inFlight, 1);
  post({ kind: "piece", job: job.job, piece: { from, to: from + piece.length } });
}

function post(message: FromSearcher, owned: ArrayBuffer[] = []): void {
  port.postMessage(message, owned);
}
