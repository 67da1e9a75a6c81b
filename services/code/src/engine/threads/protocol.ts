/** What the engine and its threads say to each other. Memory is shared; messages only name places in it. */
import type { EngineErrorCode } from "../errors.ts";
import type { WasmMemory } from "../kernels/wasm.ts";
import type { Counts } from "../search/executor.ts";
import type { PackedHits } from "../search/packed-hits.ts";
import type { PlacedDocument } from "../segment/writer.ts";
import type { PackedReplies } from "./replies.ts";

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
  /** Of the content of its documents. */
  readonly averageBytes: number;
}

/** What is asked for, by any number of jobs. */
export interface SearchTerms {
  /** An `EngineQuery` as JSON: one text for many repositories is read once. */
  readonly query: string;
  readonly filesMax: number;
  /** Matches of files after those that fill so much of an answer are not kept. */
  readonly bytesShownMax: number;
  readonly matchesMax: number;
  /** As lines of JSON, in pieces, instead of hits. */
  readonly lines: boolean;
  readonly firstOfLine: boolean;
  /** Ranked as searches of text do. */
  readonly bm25: boolean;
}

/** A part of a search: some segments of one index. */
export interface SearchJob {
  readonly job: number;
  readonly cell: number;
  readonly index: number;
  /** Numbers of segments, half-open. */
  readonly from: number;
  readonly to: number;
}

/** The five numbers of each, one after the other: objects would have to name them for each job anew. */
export type PackedJobs = readonly number[];

export function packJobs(jobs: readonly SearchJob[]): PackedJobs {
  return jobs.flatMap(({ job, cell, index, from, to }) => [job, cell, index, from, to]);
}

export function* unpackJobs(packed: PackedJobs): Generator<SearchJob> {
  for (let at = 0; at < packed.length; at += 5)
    yield {
      job: packed[at]!,
      cell: packed[at + 1]!,
      index: packed[at + 2]!,
      from: packed[at + 3]!,
      to: packed[at + 4]!,
    };
}

export type ToSearcher =
  | { readonly kind: "arena"; readonly number: number; readonly memory: WasmMemory }
  | { readonly kind: "open"; readonly place: IndexPlace }
  | { readonly kind: "close"; readonly index: number }
  | { readonly kind: "board"; readonly number: number; readonly memory: SharedArrayBuffer }
  /** One after the other, each unless it was given to another thread meanwhile. */
  | { readonly kind: "search"; readonly terms: SearchTerms; readonly jobs: PackedJobs };

export interface SearchReply {
  readonly counts: Counts;
  readonly stopped: "matches-max" | "interrupted" | undefined;
  /** Best first; left out where lines were asked for. */
  readonly hits?: PackedHits;
  /** Where lines were asked for: the last of them, after all pieces. Few answers have more, and a piece of their own would wake whoever asked twice. */
  readonly tail?: Uint8Array;
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
  | ({ readonly kind: "done" } & PackedReplies)
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
