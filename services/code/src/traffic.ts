/** How much a repository is asked for: when last, and how often lately. What is longer ago counts less. */
const halfLifeMs = 600_000;

export class Traffic {
  /** Wall clock of the last answer; 0 when there was none. */
  lastServedAt = 0;
  #score = 0;
  #scoredAt = 0;

  served(wall: number): void {
    this.#score = this.rate(wall) + 1;
    this.#scoredAt = wall;
    this.lastServedAt = wall;
  }

  /** Answers, each counting half after ten minutes. */
  rate(wall: number): number {
    return this.#score * 0.5 ** (Math.max(0, wall - this.#scoredAt) / halfLifeMs);
  }
}
