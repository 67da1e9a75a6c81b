interface Waiter {
  readonly done: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Those who wait until something about a node is true. It is asked after whenever the node has looked at everything. */
export class Waiting {
  #waiters: Waiter[] = [];

  until(done: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ done, resolve, reject });
    });
  }

  /** Lets those go whose time has come; all, if it never can. */
  settle(fatal: Error | undefined): void {
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter((waiter) => fatal !== undefined || waiter.done());
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const { resolve, reject } of ready) {
      if (fatal) reject(fatal);
      else resolve();
    }
  }
}
