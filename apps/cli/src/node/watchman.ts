/**
 * Says what a node does not decide but a person wants to know: that it waits for the store and why, that the store is out of reach or back,
 * and that a shard is in trouble with the whole fleet.
 */
import { describeTrouble, type ImageChange, type Trouble } from "@keelson/kernel";
import type { KeelsonNode } from "@keelson/runtime";
import { formatDuration } from "../config/duration.ts";
import { RunError } from "../failure.ts";
import type { Narrator } from "../report/narrator.ts";
import { StoreNews } from "../report/store-news.ts";

const LOOK_MS = 500;

export class Watchman {
  readonly #node: KeelsonNode;
  readonly #narrator: Narrator;
  readonly #store: StoreNews;
  readonly #timer: NodeJS.Timeout;
  #lost: { readonly afterMs: number; readonly tell: (error: RunError) => void } | undefined;

  constructor(node: KeelsonNode, narrator: Narrator) {
    this.#node = node;
    this.#narrator = narrator;
    this.#store = new StoreNews({
      mirror: node.mirror,
      say: (line) => narrator.say(line),
      meanwhile: "what is held is served until its session's deadline",
    });
    node.mirror.subscribe({ changed: (changes) => this.#changed(changes), listed: () => undefined });
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Rejects once the store has been silent for that long: then nothing can be handed over, and every session has ended by itself. */
  storeLost(afterMs: number): Promise<never> {
    return new Promise((_, reject) => {
      this.#lost = { afterMs, tell: reject };
    });
  }

  #look(): void {
    this.#store.look();
    if (this.#lost && this.#store.silentMs > this.#lost.afterMs)
      this.#lost.tell(
        new RunError(
          `left without handing over, because the store has not answered for ${formatDuration(this.#lost.afterMs)}: others take the shards over once it answers`,
        ),
      );
  }

  /** Quarantine is the fleet's verdict on a shard, not a decision of this node; it is told like one. */
  #changed(changes: readonly ImageChange[]): void {
    const { keys, terms } = this.#node;
    for (const { key, entry } of changes) {
      const parsed = keys.parse(key);
      if (parsed?.kind !== "trouble" || !entry) continue;
      const trouble = JSON.parse(entry.value) as Trouble;
      if (trouble.strikes < terms.quarantineStrikes) continue;
      const reason = `${describeTrouble(trouble)}; nobody opens it for ${formatDuration(terms.quarantineMs)}`;
      const { node } = trouble.last;
      this.#narrator.decided({
        at: Date.now(),
        node,
        kind: "quarantined",
        replica: `${parsed.rest}/0`,
        reason,
      });
    }
  }
}
