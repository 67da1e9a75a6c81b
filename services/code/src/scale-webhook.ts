/**
 * Tells a webhook what size the fleet wishes to be: each wish once, one that stands again every few minutes, and one that was not heard again and again with growing pauses. Nobody waits for it: a
 * receiver that is slow or away keeps the fleet from nothing. It does not judge whether a wish is right.
 */
import type { Clock } from "@keelson/kernel";
import type { FleetFacts, ScaleWish } from "./autoscale.ts";

interface ScaleWebhookPorts {
  readonly clock: Clock;
  /** Undefined: wishes are only written to the log. */
  readonly url: string | undefined;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

const timeoutMs = 5_000;
/** A wish that stands is told again this often, for those who were not listening. */
const repeatMs = 300_000;
const retryFirstMs = 1_000;
const retryMsMax = 15_000;

export class ScaleWebhook {
  readonly #ports: ScaleWebhookPorts;
  readonly #ending = new AbortController();
  /** Undefined at first: who looked after the fleet before may have told something that is no longer so. */
  #told: { readonly wish: string; readonly at: number } | undefined;
  #isTelling = false;
  /** What was tried last and not heard. */
  #unheard: { readonly wish: string; readonly tries: number; readonly retryAt: number } | undefined;

  constructor(ports: ScaleWebhookPorts) {
    this.#ports = ports;
  }

  stop(): void {
    this.#ending.abort();
  }

  /** Told with every look; most change nothing. */
  tell(wish: ScaleWish, facts: FleetFacts): void {
    const text = [wish.direction, ...wish.signals].join();
    if (this.#isTelling || !this.#isDue(wish, text)) return;
    this.#isTelling = true;
    void this.#send(wish, facts).then((isHeard) => {
      this.#isTelling = false;
      const now = this.#ports.clock.now();
      if (isHeard) this.#told = { wish: text, at: now };
      const tries = this.#unheard?.wish === text ? this.#unheard.tries + 1 : 1;
      const retryAt = now + Math.min(retryMsMax, retryFirstMs * 2 ** (tries - 1));
      this.#unheard = isHeard ? undefined : { wish: text, tries, retryAt };
    });
  }

  #isDue({ direction }: ScaleWish, text: string): boolean {
    const now = this.#ports.clock.now();
    const told = this.#told;
    if (told?.wish === text && (direction === "none" || now - told.at < repeatMs)) return false;
    // Another wish than the one that was not heard is worth a try at once.
    return this.#unheard?.wish !== text || now >= this.#unheard.retryAt;
  }

  /** True when there is nobody to tell, or it was heard. Does not reject. */
  async #send({ direction, reasons }: ScaleWish, facts: FleetFacts): Promise<boolean> {
    const { url, log } = this.#ports;
    log("the fleet's size", { wish: direction, reasons });
    if (url === undefined) return true;
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ service: "code", wish: direction, reasons, facts }),
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#ending.signal]),
      });
      // Whatever else it says is not read, and would keep the connection.
      await answer.body?.cancel();
      if (!answer.ok) log("the webhook did not take the wish", { status: answer.status });
      return answer.ok;
    } catch (error) {
      if (!this.#ending.signal.aborted) log("the webhook cannot be reached", { why: String(error) });
      return false;
    }
  }
}
