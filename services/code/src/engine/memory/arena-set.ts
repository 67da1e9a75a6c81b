/** All memory for indexes: as many arenas as the budget needs, since one memory addresses 4 GiB. */
import { EngineError } from "../errors.ts";
import { openKernels, type Kernels } from "../kernels/kernels.ts";
import { WASM_MEMORY_BYTES_MAX } from "../kernels/wasm.ts";
import type { Place } from "../threads/protocol.ts";
import { Arena } from "./arena.ts";
import { SCRATCH_BYTES } from "./scratch.ts";

const OVERHEAD_BYTES = 1_048_576;

export class ArenaSet {
  readonly arenas: readonly Arena[];
  readonly #kernels: (Kernels | undefined)[] = [];

  constructor(budgetBytes: number, threads: number) {
    const each = WASM_MEMORY_BYTES_MAX - threads * SCRATCH_BYTES - OVERHEAD_BYTES;
    const count = Math.max(1, Math.ceil(budgetBytes / each));
    this.arenas = Array.from({ length: count }, () => new Arena(Math.ceil(budgetBytes / count), threads));
  }

  get budgetBytes(): number {
    return this.arenas.reduce((sum, each) => sum + each.capacityBytes, 0);
  }

  get usedBytes(): number {
    return this.arenas.reduce((sum, each) => sum + each.usedBytes, 0);
  }

  get touchedBytes(): number {
    return this.arenas.reduce((sum, each) => sum + each.touchedBytes, 0);
  }

  /**
   * How much surely fits of what comes in runs of at most so many bytes. The largest gap can be filled; in any other less than a run may be left over. A repository that was taken because as
   * many bytes are free would otherwise not fit in one case of seven (random ones of very different sizes, for a long time), after all of it was built.
   */
  roomBytes(runBytes: number): number {
    let largest = 0;
    let sum = 0;
    for (const arena of this.arenas)
      for (const gap of arena.gaps()) {
        largest = Math.max(largest, gap);
        sum += Math.max(0, gap - runBytes);
      }
    return sum - Math.max(0, largest - runBytes) + largest;
  }

  allocate(bytes: number): SharedPlace {
    for (const [number, arena] of this.arenas.entries()) {
      const start = arena.allocate(bytes);
      if (start !== undefined) return new SharedPlace({ arena: number, start, bytes }, arena);
    }
    throw new EngineError(
      "OUT_OF_MEMORY",
      `${bytes} bytes do not fit: ${this.usedBytes} of ${this.budgetBytes} are in use; release an index or raise the budget`,
    );
  }

  /** The kernels of an arena on the calling thread. */
  kernels(arena: number): Kernels {
    return (this.#kernels[arena] ??= openKernels(this.arenas[arena]!.memory));
  }

  /** The bytes at a place; they change when it is released. */
  bytes({ arena, start, bytes }: Place): Uint8Array {
    return this.arenas[arena]!.bytes.subarray(start, start + bytes);
  }
}

/** A place that several indexes may use; the last to release it gives it back. */
export class SharedPlace {
  readonly place: Place;
  readonly #arena: Arena;
  #users = 1;

  constructor(place: Place, arena: Arena) {
    this.place = place;
    this.#arena = arena;
  }

  retain(): this {
    this.#users += 1;
    return this;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#arena.release(this.place.start, this.place.bytes);
  }
}
