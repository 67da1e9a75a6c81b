import type { WireLimits } from "../limits.ts";

/**
 * Decides from silence alone whether the other side is still there: silent for a while, ask; still silent, gone. Any byte counts as
 * an answer. A pure machine: the link tells it what it heard and asks it at every tick. A tick that comes very late means that this
 * process itself was stopped, and that the answer may lie unread in the socket: then the wait begins anew.
 */
export class Heartbeat {
  readonly #limits: Pick<WireLimits, "pingAfterMs" | "idlePingAfterMs" | "pongWithinMs">;
  #heardAt: number;
  #askedAt: number | undefined;
  #checkedAt: number;

  constructor(limits: Pick<WireLimits, "pingAfterMs" | "idlePingAfterMs" | "pongWithinMs">, now: number) {
    this.#limits = limits;
    this.#heardAt = now;
    this.#checkedAt = now;
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
    const sleptMs = now - this.#checkedAt;
    this.#checkedAt = now;
    if (this.#askedAt !== undefined) {
      if (sleptMs > this.#limits.pongWithinMs / 2) this.#askedAt = now;
      return now - this.#askedAt >= this.#limits.pongWithinMs ? "gone" : "fine";
    }
    const silentMs = now - this.#heardAt;
    return silentMs >= (busy ? this.#limits.pingAfterMs : this.#limits.idlePingAfterMs) ? "ask" : "fine";
  }
}
