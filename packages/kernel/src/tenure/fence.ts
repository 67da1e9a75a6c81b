/**
 * Until when a session lets its tenures serve. The deadline lives in shared memory, so that worker threads can check it without asking;
 * it belongs to one session id and dies with it. A check, not a timer: nothing has to run for serving to stop.
 */
export class Fence {
  readonly session: string;
  /** One float on shared memory: the deadline on the process's monotonic clock. Hand `cell.buffer` to a worker. */
  readonly cell: Float64Array;

  constructor(session: string, cell: Float64Array = new Float64Array(new SharedArrayBuffer(8))) {
    this.session = session;
    this.cell = cell;
    this.cell[0] = -Infinity;
  }

  get deadline(): number {
    return this.cell[0]!;
  }

  passes(now: number): boolean {
    return now < this.cell[0]!;
  }

  /** A renewal sent at `deadline − …` was confirmed. Deadlines only move forward. */
  extend(deadline: number): void {
    if (deadline > this.cell[0]!) this.cell[0] = deadline;
  }

  /** The session is gone, or its owner gives it up: nothing passes any more. */
  end(): void {
    this.cell[0] = -Infinity;
  }
}
