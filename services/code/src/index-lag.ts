/**
 * For how long a held replica has not been known to serve what its remote has. It begins with a look at the remote, with somebody telling of something new, or with memory that was found damaged, and ends when a look
 * that began after that has come to its end and what it saw is served. A look that fails, or hangs, does not end it: nobody knows then.
 */
export class IndexLag {
  readonly #now: () => number;
  /** What the present look is for, or the one after those that failed. */
  #since: number | undefined;
  /** What was told of while a look went on, which may not have seen it. */
  #next: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** 0 when it is up to date. */
  get ms(): number {
    const since = this.#since ?? this.#next;
    return since === undefined ? 0 : this.#now() - since;
  }

  /** There may be something new, or what was there is lost. */
  told(): void {
    this.#next ??= this.#now();
  }

  /** A look begins: it sees all that was told of so far. */
  lookBegins(): void {
    this.#since ??= this.#next ?? this.#now();
    this.#next = undefined;
  }

  /** What the look saw is served. */
  caughtUp(): void {
    this.#since = undefined;
  }
}
