/**
 * The time one call may take. It ends when the time is up, when the caller's signal says so, or when the call is done; whoever waits inside the call
 * is told at once. A write says when it may begin to be applied, because from then on an early end is "unknown" and no longer "nothing happened".
 */
import type { Clock, Timer } from "@keelson/kernel";
import type { ObjectCallOptions } from "./contract.ts";
import { ObjectError, rejected } from "./errors.ts";

/** The longest that timers of the platform can wait. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

export class Deadline {
  readonly #clock: Clock;
  readonly #what: string;
  readonly #endsAt: number;
  readonly #timeoutMs: number;
  readonly #abort = new AbortController();
  readonly #timer: Timer;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuter = (): void => this.#end("aborted");
  #ended: "time" | "aborted" | undefined;
  #applying = false;

  constructor(clock: Clock, what: string, { timeoutMs, signal }: ObjectCallOptions) {
    if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX))
      throw rejected(`timeoutMs is ${timeoutMs}: give a number of milliseconds above 0`);
    this.#clock = clock;
    this.#what = what;
    this.#timeoutMs = timeoutMs;
    this.#endsAt = clock.now() + timeoutMs;
    this.#timer = clock.after(timeoutMs, () => this.#end("time"));
    this.#outer = signal;
    if (signal?.aborted === true) this.#end("aborted");
    else signal?.addEventListener("abort", this.#onOuter, { once: true });
  }

  /** Aborts when the call is to end early. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get over(): boolean {
    return this.#ended !== undefined;
  }

  get remainingMs(): number {
    return Math.max(0, this.#endsAt - this.#clock.now());
  }

  get mayBeApplied(): boolean {
    return this.#applying;
  }

  /** The write may take effect from here on. Throws instead when the call is already over, so that nothing is applied after its end was told. */
  applying(): void {
    this.check();
    this.#applying = true;
  }

  /** What was begun is known to have changed nothing. */
  notApplied(): void {
    this.#applying = false;
  }

  check(): void {
    if (this.over) throw this.error();
  }

  /** The failure of a call that ended early. */
  error(cause?: unknown): ObjectError {
    const why =
      this.#ended === "aborted" ? "was aborted" : `did not end within ${Math.round(this.#timeoutMs)} ms`;
    const options = cause === undefined ? undefined : { cause };
    if (this.#applying)
      return new ObjectError(
        "OBJECT_UNKNOWN",
        `${this.#what} ${why}: it may have been applied, or may yet be; read before acting`,
        options,
      );
    return this.#ended === "aborted"
      ? new ObjectError("OBJECT_ABORTED", `${this.#what} ${why}`, options)
      : new ObjectError("OBJECT_UNAVAILABLE", `${this.#what} ${why}`, options);
  }

  /** Waits for the work, or for the end of the time, whichever comes first. The work itself goes on and must look at `over`. */
  async race<T>(work: Promise<T>): Promise<T> {
    let onEnd: () => void = () => {};
    const ended = new Promise<never>((_resolve, reject) => {
      onEnd = () => reject(this.error());
      if (this.over) onEnd();
      else this.signal.addEventListener("abort", onEnd, { once: true });
    });
    try {
      return await Promise.race([ended, work]);
    } finally {
      this.signal.removeEventListener("abort", onEnd);
    }
  }

  /** Waits, at most until the end. */
  sleep(ms: number): Promise<void> {
    let timer: Timer | undefined;
    const slept = new Promise<void>((resolve) => {
      timer = this.#clock.after(ms, resolve);
    });
    return this.race(slept).finally(() => timer?.cancel());
  }

  /** The call is done. */
  close(): void {
    this.#timer.cancel();
    this.#outer?.removeEventListener("abort", this.#onOuter);
  }

  #end(how: "time" | "aborted"): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    this.#abort.abort();
  }
}
