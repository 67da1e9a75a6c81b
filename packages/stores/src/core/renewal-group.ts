/**
 * Sends renewals that are asked for in the same moment as one. The nodes of one process renew their sessions at the same times, and one call for all of them costs the
 * process and the store little more than one call for one. What is answered of a session is told to whoever asked about it; a call that fails, fails for all.
 */
import { STORE_LIMITS, type CallOptions, type Renewal } from "@keelson/kernel";

interface Asked {
  readonly sessions: readonly string[];
  readonly timeoutMs: number;
  readonly resolve: (renewal: Renewal) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends one renewal. The sessions are within the limit of one call. */
export type SendRenewal = (sessions: readonly string[], options: CallOptions) => Promise<Renewal>;

const settled = Promise.resolve();

export class RenewalGroup {
  readonly #send: SendRenewal;
  #waiting: Asked[] = [];

  constructor(send: SendRenewal) {
    this.#send = send;
  }

  /** Requires that the sessions are within the limit of one call. */
  renew(sessions: readonly string[], { timeoutMs }: CallOptions): Promise<Renewal> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ sessions, timeoutMs, resolve, reject });
      if (this.#waiting.length === 1) void settled.then(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    let from = 0;
    let count = 0;
    for (const [at, { sessions, timeoutMs }] of waiting.entries()) {
      const fits =
        count + sessions.length <= STORE_LIMITS.operationsMax && timeoutMs === waiting[from]!.timeoutMs;
      if (at > from && !fits) {
        void this.#together(waiting.slice(from, at));
        [from, count] = [at, 0];
      }
      count += sessions.length;
    }
    void this.#together(waiting.slice(from));
  }

  async #together(group: readonly Asked[]): Promise<void> {
    const { timeoutMs } = group[0]!;
    try {
      const renewal = await this.#send([...new Set(group.flatMap(({ sessions }) => sessions))], {
        timeoutMs,
      });
      const alive = new Set(renewal.alive);
      for (const { sessions, resolve } of group)
        resolve({
          ...renewal,
          alive: sessions.filter((session) => alive.has(session)),
          gone: sessions.filter((session) => !alive.has(session)),
        });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
