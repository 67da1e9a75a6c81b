/**
 * A searching thread: keeps its own view of arenas and indexes, and runs one search after another, those that were not given to another thread meanwhile. It has no clock: who
 * asks also says when to stop.
 */
import { parentPort, workerData } from "node:worker_threads";
import { EngineError } from "../errors.ts";
import { RESERVED_BYTES, openKernels } from "../kernels/kernels.ts";
import { copyBytes } from "../memory/copy-bytes.ts";
import { SCRATCH_BYTES } from "../memory/scratch.ts";
import { execute, type Outcome, type Sink } from "../search/executor.ts";
import { HitSink } from "../search/hit-sink.ts";
import { Interrupted } from "../search/interrupted.ts";
import { LineSink } from "../search/line-sink.ts";
import { packHits, type PackedHits } from "../search/packed-hits.ts";
import { BranchMasks, type OpenSegment, type ThreadArena } from "../search/open-segment.ts";
import { Segment } from "../segment/segment.ts";
import { SymbolTable } from "../segment/symbols.ts";
import {
  before,
  begunBy,
  control,
  type FromSearcher,
  type IndexPlace,
  type SearchJob,
  type ToSearcher,
} from "./protocol.ts";
import { stepBack } from "./step-back.ts";

/** Pieces of an answer that may wait to be taken before the search waits too. */
const PIECES_MAX = 4;
/** Smaller pieces are copies of their own. */
const RING_BYTES_MIN = 65_536;
const SLOT_BYTES = 1_048_576;
const WAIT_MS = 50;

stepBack();
const { thread } = workerData as { readonly thread: number };
const port = parentPort!;
const arenas: ThreadArena[] = [];
const indexes = new Map<
  number,
  { readonly branches: readonly string[]; readonly segments: readonly OpenSegment[] }
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
      });
      break;
    case "close":
      indexes.delete(message.index);
      break;
    case "search":
      run(message.job);
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
let ring: { readonly bytes: Uint8Array; flags: Int32Array } | undefined;

function ringOf(): Uint8Array {
  if (ring === undefined || (ring.flags !== flags && Atomics.load(ring.flags, control.inFlight) !== 0)) {
    const memory = new SharedArrayBuffer(PIECES_MAX * SLOT_BYTES);
    ring = { bytes: new Uint8Array(memory), flags };
    post({ kind: "ring", memory });
  }
  ring.flags = flags;
  return ring.bytes;
}

/** Of the search that runs. */
let flags = new Int32Array(new SharedArrayBuffer(4));

function checkpoint(): void {
  if (Atomics.load(flags, control.stop) !== 0) throw new Interrupted();
}

function run(job: SearchJob): void {
  flags = new Int32Array(job.control);
  const claim = control.claims + job.part;
  const mine = before(thread);
  if (Atomics.compareExchange(flags, claim, mine, begunBy(thread)) !== mine) return;
  try {
    if (job.lines) {
      let pieces = 0;
      const sink = new LineSink((piece) => send(job, piece, pieces++), job.firstOfLine);
      const outcome = search(job, sink);
      // Whoever stopped the search gets what was complete by then.
      if (outcome.stopped !== "interrupted") sink.finish();
      post({ kind: "done", job: job.job, ...outcome });
    } else {
      const sink = new HitSink(job.filesMax, job.bytesShownMax);
      let outcome: Outcome;
      let hits: PackedHits;
      try {
        outcome = search(job, sink);
        hits = packHits(sink.sorted());
      } finally {
        sink.release();
      }
      const owned = [hits.scores.buffer, hits.shownBytes.buffer, hits.words.buffer] as ArrayBuffer[];
      post({ kind: "done", job: job.job, ...outcome, hits }, owned);
    }
  } catch (error) {
    const known = error instanceof EngineError ? error : undefined;
    const message = error instanceof Error ? (known?.message ?? error.stack ?? error.message) : String(error);
    post({ kind: "failed", job: job.job, code: known?.code, message, position: known?.position });
  }
}

function search(job: SearchJob, sink: Sink): Outcome {
  const index = indexes.get(job.index);
  if (index === undefined) throw new EngineError("CLOSED", "the index was released");
  const segments = index.segments.map((open, number) => ({ open, number })).slice(job.from, job.to);
  return execute(
    job.query,
    segments,
    { branches: index.branches, matchesMax: job.matchesMax, firstOfLine: job.firstOfLine, checkpoint },
    sink,
  );
}

function send(job: SearchJob, piece: Uint8Array, number: number): void {
  for (;;) {
    const inFlight = Atomics.load(flags, control.inFlight);
    if (inFlight < PIECES_MAX) break;
    checkpoint();
    Atomics.wait(flags, control.inFlight, inFlight, WAIT_MS);
  }
  if (piece.length < RING_BYTES_MIN || piece.length > SLOT_BYTES) {
    const own = piece.slice();
    Atomics.add(flags, control.inFlight, 1);
    post({ kind: "piece", job: job.job, piece: own }, [own.buffer]);
    return;
  }
  // Pieces are taken in order, so the one that was here before is.
  const from = (number % PIECES_MAX) * SLOT_BYTES;
  copyBytes(piece, ringOf(), from);
  Atomics.add(flags, control.inFlight, 1);
  post({ kind: "piece", job: job.job, piece: { from, to: from + piece.length } });
}

function post(message: FromSearcher, owned: ArrayBuffer[] = []): void {
  port.postMessage(message, owned);
}
