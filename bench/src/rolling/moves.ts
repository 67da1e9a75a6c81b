/** Counts how often a shard changed hands, as the store tells it, and says when nothing has moved for a while. */
import { Keys, type Tenure } from "@keelson/kernel";
import type { FleetClient } from "@keelson/runtime";

export class MoveCounter {
  /** Hand-overs and takeovers since `reset`. */
  moves = 0;
  readonly #holders = new Map<string, string>();
  readonly #now: () => number;
  #changedAt = 0;

  constructor(fleet: string, client: FleetClient, now: () => number) {
    this.#now = now;
    const keys = new Keys(fleet);
    client.mirror.subscribe({
      listed: () => undefined,
      changed: (changes) => {
        for (const { key, entry } of changes) {
          const parsed = keys.parse(key);
          if (parsed?.kind === "contender" || parsed?.kind === "view") this.#changedAt = now();
          if (parsed?.kind !== "tenure") continue;
          this.#changedAt = now();
          if (!entry) continue;
          const { node } = JSON.parse(entry.value) as Tenure;
          const before = this.#holders.get(parsed.rest);
          this.#holders.set(parsed.rest, node);
          if (before !== undefined && before !== node) this.moves++;
        }
      },
    });
  }

  reset(): void {
    this.moves = 0;
  }

  /** Resolves when no tenure, contender or view has changed for so long. */
  async still(forMs: number, timeoutMs: number): Promise<void> {
    const deadline = this.#now() + timeoutMs;
    this.#changedAt = this.#now();
    while (this.#now() - this.#changedAt < forMs) {
      if (this.#now() > deadline) throw new Error(`shards still move after ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
