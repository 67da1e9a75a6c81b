/** A segment as a searching thread sees it: where it lies, which of its documents are live and on which branches, and the scratch to work in. */
import type { Kernels } from "../kernels/kernels.ts";
import { scratchLayout } from "../memory/scratch.ts";
import type { Segment } from "../segment/segment.ts";
import type { SymbolTable } from "../segment/symbols.ts";

/** One thread's view of an arena. */
export interface ThreadArena {
  readonly memory: SharedArrayBuffer;
  readonly kernels: Kernels;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly scratch: number;
}

export interface OpenSegment {
  readonly segment: Segment;
  /** Which of the thread's arenas. */
  readonly arenaNumber: number;
  readonly arena: ThreadArena;
  readonly symbols: SymbolTable | undefined;
  /** The number in the index of its first document. */
  readonly firstDocument: number;
  readonly masks: BranchMasks;
}

/** For each document of an index, a bit for each branch it is on. No bit: the document is gone. */
export class BranchMasks {
  readonly words: Uint32Array;
  readonly stride: number;

  constructor(buffer: SharedArrayBuffer, branches: number) {
    this.words = new Uint32Array(buffer);
    this.stride = strideOf(branches);
  }

  isLive(document: number): boolean {
    for (let i = 0; i < this.stride; i += 1) if (this.words[document * this.stride + i] !== 0) return true;
    return false;
  }

  has(document: number, branch: number): boolean {
    return ((this.words[document * this.stride + (branch >>> 5)]! >>> (branch & 31)) & 1) === 1;
  }

  set(document: number, branch: number): void {
    const at = document * this.stride + (branch >>> 5);
    this.words[at] = (this.words[at]! | (1 << (branch & 31))) >>> 0;
  }

  static buffer(documents: number, branches: number): SharedArrayBuffer {
    return new SharedArrayBuffer(Math.max(1, documents * strideOf(branches)) * 4);
  }
}

function strideOf(branches: number): number {
  return Math.max(1, Math.ceil(branches / 32));
}

export function bitmapAt(arena: ThreadArena, slot: number): number {
  return arena.scratch + scratchLayout.bitmaps + slot * 512;
}
