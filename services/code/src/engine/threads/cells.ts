/**
 * The words through which a part of a search and whoever asked for it speak while it runs. They lie in boards of shared memory that every thread is told of once: memory of its own for each
 * search would cost more than searching a small repository does.
 */

/** Of a cell. */
export const word = {
  /** Not 0: stop. */
  stop: 0,
  /** Pieces that were sent and not yet taken. */
  inFlight: 1,
  /** Whom it is for, and whether that thread has begun. */
  claim: 2,
  /** Rises while a thread works on it. */
  beats: 3,
} as const;

const CELL_WORDS = 4;
const BOARD_CELLS = 1_024;
const THREAD_BITS = 7;
/** Enough to tell a job from another that had the same cell before and that a thread has not come to yet. */
const JOB_MASK = 0xff_ffff;

/** What stands in a claim: the part lies before this thread, which may begin with it unless it was given to another or withdrawn meanwhile. */
export function before(thread: number, job: number): number {
  return ((job & JOB_MASK) << THREAD_BITS) | (thread + 1);
}

export function begunBy(thread: number, job: number): number {
  return ~before(thread, job);
}

/** Its time was up before any thread came to it. */
export const WITHDRAWN = 0;
/** The thread is through with it; its reply may still be waiting for others. */
export const THROUGH = -1;

export function isBegun(claim: number): boolean {
  return claim < THROUGH;
}

export function cellOf(boards: readonly SharedArrayBuffer[], cell: number): Int32Array<SharedArrayBuffer> {
  const bytes = CELL_WORDS * Int32Array.BYTES_PER_ELEMENT;
  return new Int32Array(boards[Math.floor(cell / BOARD_CELLS)]!, (cell % BOARD_CELLS) * bytes, CELL_WORDS);
}

export interface Cell {
  readonly number: number;
  readonly words: Int32Array;
}

/** Gives cells out, and takes them back. There are never more than were in use at once. */
export class Cells {
  readonly boards: SharedArrayBuffer[] = [];
  readonly #told: (number: number, memory: SharedArrayBuffer) => void;
  #free: Cell[] = [];

  /** Threads are told of each board before they hear of a cell on it. */
  constructor(told: (number: number, memory: SharedArrayBuffer) => void) {
    this.#told = told;
  }

  take(): Cell {
    const cell = this.#free.pop() ?? this.#another();
    cell.words.fill(0);
    return cell;
  }

  /** Nobody looks at it any more, on either side. */
  give(cell: Cell): void {
    this.#free.push(cell);
  }

  #another(): Cell {
    const board = this.boards.length;
    const memory = new SharedArrayBuffer(BOARD_CELLS * CELL_WORDS * Int32Array.BYTES_PER_ELEMENT);
    this.boards.push(memory);
    this.#told(board, memory);
    const first = board * BOARD_CELLS;
    for (let number = first + BOARD_CELLS - 1; number >= first; number -= 1)
      this.#free.push({ number, words: cellOf(this.boards, number) });
    return this.#free.pop()!;
  }
}
