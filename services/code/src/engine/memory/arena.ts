/**
 * One shared memory of fixed size, handed out in runs of pages. What is released is used again before pages that were never touched, so what the operating
 * system counts as resident never passes what was once in use. The start of it belongs to the kernels and to the scratch of each thread.
 */
import { RESERVED_BYTES } from "../kernels/kernels.ts";
import { createMemory, type WasmMemory } from "../kernels/wasm.ts";
import { SCRATCH_BYTES } from "./scratch.ts";

const PAGE_BYTES = 4096;

interface Run {
  start: number;
  bytes: number;
}

export class Arena {
  readonly memory: WasmMemory;
  readonly bytes: Uint8Array;
  /** What can be handed out. */
  readonly capacityBytes: number;
  /** Sorted by start, never adjacent. */
  readonly #free: Run[];
  #used = 0;
  /** Everything at or above this was never written. */
  #high: number;
  readonly #first: number;

  constructor(capacityBytes: number, threads: number) {
    this.#first = RESERVED_BYTES + threads * SCRATCH_BYTES;
    this.capacityBytes = Math.floor(capacityBytes / PAGE_BYTES) * PAGE_BYTES;
    this.memory = createMemory(this.#first + this.capacityBytes);
    this.bytes = new Uint8Array(this.memory.buffer);
    this.#free = [{ start: this.#first, bytes: this.capacityBytes }];
    this.#high = this.#first;
  }

  get usedBytes(): number {
    return this.#used;
  }

  get touchedBytes(): number {
    return this.#high - this.#first;
  }

  /** The sizes of what is free: what is released leaves gaps, and they are one where they touch. */
  *gaps(): Iterable<number> {
    for (const { bytes } of this.#free) yield bytes;
  }

  /** The start of a run of at least so many bytes, or undefined when none is left: the smallest that fits, the lowest of equals. */
  allocate(bytes: number): number | undefined {
    const wanted = roundUp(bytes);
    let best = -1;
    for (const [index, run] of this.#free.entries()) {
      if (run.bytes < wanted) continue;
      const touched = run.start + wanted <= this.#high;
      const found = this.#free[best];
      if (found === undefined || (touched && run.bytes < found.bytes)) best = index;
    }
    const run = this.#free[best];
    if (run === undefined) return undefined;
    const { start } = run;
    if (run.bytes === wanted) this.#free.splice(best, 1);
    else {
      run.start += wanted;
      run.bytes -= wanted;
    }
    this.#used += wanted;
    this.#high = Math.max(this.#high, start + wanted);
    return start;
  }

  release(start: number, bytes: number): void {
    const run = { start, bytes: roundUp(bytes) };
    this.#used -= run.bytes;
    let index = this.#free.findIndex((each) => each.start > start);
    if (index === -1) index = this.#free.length;
    const before = this.#free[index - 1];
    const after = this.#free[index];
    if (before !== undefined && before.start + before.bytes > start)
      throw new Error("this memory was released before");
    if (after !== undefined && run.start + run.bytes === after.start) {
      run.bytes += after.bytes;
      this.#free.splice(index, 1);
    }
    if (before !== undefined && before.start + before.bytes === run.start) before.bytes += run.bytes;
    else this.#free.splice(index, 0, run);
  }
}

function roundUp(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / PAGE_BYTES)) * PAGE_BYTES;
}
