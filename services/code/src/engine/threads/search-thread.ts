/** A searching thread: keeps its own view of arenas and indexes, and runs one search after another. It has no clock: who asks also says when to stop. */
import { parentPort, workerData } from "node:worker_threads";
import { EngineError } from "../errors.ts";
import { RESERVED_BYTES, openKernels } from "../kernels/kernels.ts";
import { copyBytes } from "../memory/copy-bytes.ts";
import { SCRATCH_BYTES } from "../memory/scratch.ts";
import { execute, type Outcome, type Sink } from "../search/executor.ts";
import { HitSink } from "../search/hit-sink.ts";
import { Interrupted } from "../search/interrupted.ts";
import { LineSink } from "../search/line-sink.ts";
import { BranchMasks, type OpenSegment, type ThreadArena } from "../search/open-segment.ts";
import { Segment } from "../segment/segment.ts";
import { SymbolTable } from "../segment/symbols.ts";
import { control, type FromSearcher, type IndexPlace, type SearchJob, type ToSearcher } from "./protocol.ts";

/** Pieces of an answer that may wait to be taken before the search waits too. */
const PIECES_MAX = 4;
/** Smaller pieces are copies of their own. */
const RING_BYTES_MIN = 65_536;
const SLOT_BYTES = 1_048_576;
const WAIT_MS = 50;

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

function ringOf(flags: Int32Array): Uint8Array {
  if (ring === undefined || (ring.flags !== flags && Atomics.load(ring.flags, control.inFlight) !== 0))
    ring = { bytes: new Uint8Array(new SharedArrayBuffer(PIECES_MAX * SLOT_BYTES)), flags };
  ring.flags = flags;
  return ring.bytes;
}

function run(job: SearchJob): void {
  try {
    const flags = new Int32Array(job.control);
    const checkpoint = (): void => {
      if (Atomics.load(flags, control.stop) !== 0) throw new Interrupted();
    };
    if (job.lines) {
      let pieces = 0;
      const sink = new LineSink((piece) => send(job, flags, piece, pieces++, checkpoint), job.firstOfLine);
      const outcome = search(job, checkpoint, sink);
      // Whoever stopped the search gets what was complete by then.
      if (outcome.stopped !== "interrupted") sink.finish();
      post({ kind: "done", job: job.job, ...outcome, hits: [] });
    } else {
      const sink = new HitSink(job.filesMax);
      const outcome = search(job, checkpoint, sink);
      post({ kind: "done", job: job.job, ...outcome, hits: sink.sorted() });
    }
  } catch (error) {
    const known = error instanceof EngineError ? error : undefined;
    const message = error instanceof Error ? (known?.message ?? error.stack ?? error.message) : String(error);
    post({ kind: "failed", job: job.job, code: known?.code, message, position: known?.position });
  }
}

function search(job: SearchJob, checkpoint: () => void, sink: Sink): Outcome {
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

function send(
  job: SearchJob,
  flags: Int32Array,
  piece: Uint8Array,
  number: number,
  checkpoint: () => void,
): void {
  for (;;) {
    const inFlight = Atomics.load(flags, control.inFlight);
    if (inFlight < PIECES_MAX) break;
    checkpoint();
    Atomics.wait(flags, control.inFlight, inFlight, WAIT_MS);
  }
  let kept: Uint8Array;
  if (piece.length < RING_BYTES_MIN || piece.length > SLOT_BYTES) kept = piece.slice();
  else {
    // Pieces are taken in order, so the one that was here before is.
    const slot = (number % PIECES_MAX) * SLOT_BYTES;
    const bytes = ringOf(flags);
    copyBytes(piece, bytes, slot);
    kept = bytes.subarray(slot, slot + piece.length);
  }
  Atomics.add(flags, control.inFlight, 1);
  post({ kind: "piece", job: job.job, piece: kept });
}

function post(message: FromSearcher): void {
  const own = message.kind === "piece" && message.piece.buffer instanceof ArrayBuffer;
  port.postMessage(message, own ? [message.piece.buffer] : []);
}
