/** So many a second, with a quarter of a second's worth at once: keeps a burst of verdicts from becoming a burst of writes. */
export class Limiter {
  #perSecond: number;
  #tokens: number;
  #at = -Infinity;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#tokens = this.#burst;
  }

  setRate(perSecond: number): void {
    this.#perSecond = perSecond;
  }

  take(now: number): boolean {
    const gained = this.#at === -Infinity ? Infinity : ((now - this.#at) * this.#perSecond) / 1_000;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** When the next one may pass. */
  nextAt(now: number): number {
    return now + Math.max(0, ((1 - this.#tokens) * 1_000) / this.#perSecond);
  }

  get #burst(): number {
    return Math.max(1, this.#perSecond / 4);
  }
}
