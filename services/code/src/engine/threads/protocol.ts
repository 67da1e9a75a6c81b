/** What the engine and its threads say to each other. Memory is shared; messages only name places in it. */
import type { EngineErrorCode } from "../errors.ts";
import type { WasmMemory } from "../kernels/wasm.ts";
import type { EngineQuery } from "../query.ts";
import type { Counts } from "../search/executor.ts";
import type { PackedHits } from "../search/packed-hits.ts";
import type { PlacedDocument } from "../segment/writer.ts";

/** A run of bytes in an arena. */
export interface Place {
  readonly arena: number;
  readonly start: number;
  readonly bytes: number;
}

interface SegmentPlace extends Place {
  readonly firstDocument: number;
  readonly symbols: Place | undefined;
}

/** Everything a searching thread needs to know of an index. */
export interface IndexPlace {
  readonly index: number;
  readonly branches: readonly string[];
  readonly masks: SharedArrayBuffer;
  readonly segments: readonly SegmentPlace[];
}

/** Words of the memory that a search shares with the one who asked. */
export const control = {
  /** Not 0: stop. */
  stop: 0,
  /** Pieces that were sent and not yet taken. */
  inFlight: 1,
  /** Here and after: for each part of the search, which thread it is for. */
  claims: 2,
} as const;

/** What stands in a claim: the part lies before this thread, which may begin with it unless it was given to another or withdrawn meanwhile. */
export function before(thread: number): number {
  return thread + 1;
}

export function begunBy(thread: number): number {
  return -thread - 1;
}

/** Its time was up before any thread came to it. */
export const WITHDRAWN = 0;

export function controlOf(parts: number): SharedArrayBuffer {
  return new SharedArrayBuffer((control.claims + parts) * 4);
}

export interface SearchJob {
  readonly job: number;
  /** Which part of its search, for the claim. */
  readonly part: number;
  readonly index: number;
  readonly query: EngineQuery;
  /** Numbers of segments, half-open. */
  readonly from: number;
  readonly to: number;
  readonly filesMax: number;
  /** Matches of files after those that fill so much of an answer are not kept. */
  readonly bytesShownMax: number;
  readonly matchesMax: number;
  readonly control: SharedArrayBuffer;
  /** As lines of JSON, in pieces, instead of hits. */
  readonly lines: boolean;
  readonly firstOfLine: boolean;
}

export type ToSearcher =
  | { readonly kind: "arena"; readonly number: number; readonly memory: WasmMemory }
  | { readonly kind: "open"; readonly place: IndexPlace }
  | { readonly kind: "close"; readonly index: number }
  | { readonly kind: "search"; readonly job: SearchJob };

export interface SearchReply {
  readonly counts: Counts;
  readonly stopped: "matches-max" | "interrupted" | undefined;
  /** Best first; left out where lines were asked for. */
  readonly hits?: PackedHits;
}

export type FromSearcher =
  /** Where large pieces lie from now on. It is told once, because every copy of the name of shared memory weighs as much as that memory to whoever collects garbage. */
  | { readonly kind: "ring"; readonly memory: SharedArrayBuffer }
  /** Its bytes, or where they lie in the ring. */
  | {
      readonly kind: "piece";
      readonly job: number;
      readonly piece: Uint8Array | { readonly from: number; readonly to: number };
    }
  | ({ readonly kind: "done"; readonly job: number } & SearchReply)
  | {
      readonly kind: "failed";
      readonly job: number;
      readonly code: EngineErrorCode | undefined;
      readonly message: string;
      readonly position: number | undefined;
    };

export type ToBuilder =
  | {
      readonly kind: "write";
      readonly memory: WasmMemory;
      readonly textBytes: number;
      readonly documents: readonly PlacedDocument[];
      readonly contentEnd: number;
    }
  /** Copies what was written last. */
  | { readonly kind: "copy"; readonly to: WasmMemory; readonly start: number };

export type FromBuilder =
  | { readonly kind: "written"; readonly bytes: number }
  | { readonly kind: "copied" }
  | { readonly kind: "failed"; readonly message: string };
