/** Lets the event loop run while something long is done on it, by time and not by steps: what one step takes depends on what others have written. */

const STEP_MS = 5;

export class Turns {
  #since = performance.now();

  /** Whether it is others' turn. */
  get due(): boolean {
    return performance.now() - this.#since >= STEP_MS;
  }

  async give(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.#since = performance.now();
  }
}
