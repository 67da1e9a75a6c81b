import type { WireLimits } from "../limits.ts";

/**
 * Decides from silence alone whether the other side is still there: silent for a while, ask; still silent, gone. Any byte counts as
 * an answer. A pure machine: the link tells it what it heard and asks it at every tick.
 */
export class Heartbeat {
  readonly #limits: Pick<WireLimits, "pingAfterMs" | "idlePingAfterMs" | "pongWithinMs">;
  #heardAt: number;
  #askedAt: number | undefined;

  constructor(limits: Pick<WireLimits, "pingAfterMs" | "idlePingAfterMs" | "pongWithinMs">, now: number) {
    this.#limits = limits;
    this.#heardAt = now;
  }

  get heardAt(): number {
    return this.#heardAt;
  }

  heard(now: number): void {
    this.#heardAt = now;
    this.#askedAt = undefined;
  }

  /** A ping was sent, for whatever reason. The first unanswered one counts. */
  asked(now: number): void {
    this.#askedAt ??= now;
  }

  /** `busy`: something is in flight, so silence means more. */
  check(now: number, busy: boolean): "fine" | "ask" | "gone" {
    if (this.#askedAt !== undefined)
      return now - this.#askedAt >= this.#limits.pongWithinMs ? "gone" : "fine";
    const silentMs = now - this.#heardAt;
    return silentMs >= (busy ? this.#limits.pingAfterMs : this.#limits.idlePingAfterMs) ? "ask" : "fine";
  }
}
