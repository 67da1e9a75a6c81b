/**
 * Sends commits in groups: while one transaction is on its way to the disk, those that come wait, and then leave together in the next one. Each is still all or nothing for
 * itself. One commit at a time would cost one write to the disk each, since a commit holds the lock on the revision until it is durable.
 */
import type { Clock, Commit, Timer } from "@keelson/kernel";
import { PostgresFailure } from "./failure.ts";
import { GROUP_BYTES_MAX, GROUP_MAX, WAITING_MAX } from "./options.ts";

interface Waiting<T> {
  readonly asked: unknown;
  readonly bytes: number;
  readonly deadline: number;
  readonly timer: Timer;
  readonly resolve: (outcome: T) => void;
  readonly reject: (error: unknown) => void;
  sent: boolean;
}

export interface CommitGroupOptions<T> {
  readonly clock: Clock;
  /** Sends a group and gives an outcome for each; says `sent` just before it does. Rejects with what is true of all of them. */
  send(group: readonly unknown[], timeoutMs: number, sent: () => void): Promise<readonly T[]>;
}

export class CommitGroup<T> {
  readonly #options: CommitGroupOptions<T>;
  #waiting: Waiting<T>[] = [];
  #sending = false;

  constructor(options: CommitGroupOptions<T>) {
    this.#options = options;
  }

  commit({ guards, writes }: Commit, incarnation: string, timeoutMs: number): Promise<T> {
    if (this.#waiting.length >= WAITING_MAX)
      return Promise.reject(new PostgresFailure(`${WAITING_MAX} commits wait already`, false));
    const asked = {
      incarnation,
      guards: guards.map(({ key, revision }) => ({ k: key, r: revision })),
      writes: writes.map((write) =>
        write.kind === "delete" ? { k: write.key } : { k: write.key, v: write.value, s: write.session },
      ),
    };
    const bytes = writes.reduce((sum, write) => sum + (write.kind === "put" ? write.value.length : 0), 0);
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = clock.after(timeoutMs, () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(
          new PostgresFailure(
            `no answer within ${Math.round(timeoutMs)} ms: check the address, the network and firewalls`,
            waiting.sent,
          ),
        );
      });
      const deadline = clock.now() + timeoutMs;
      const waiting: Waiting<T> = { asked, bytes, deadline, timer, resolve, reject, sent: false };
      this.#waiting.push(waiting);
      if (!this.#sending) void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    this.#sending = true;
    // Those that are asked for in the same moment go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, fitting(this.#waiting));
      // oxlint-disable-next-line no-await-in-loop -- the next group leaves when this one is done.
      await this.#send(group);
    }
    this.#sending = false;
  }

  async #send(group: readonly Waiting<T>[]): Promise<void> {
    const { clock } = this.#options;
    try {
      const left = Math.max(...group.map(({ deadline }) => deadline)) - clock.now();
      const outcomes = await this.#options.send(
        group.map(({ asked }) => asked),
        Math.max(1, left),
        () => {
          for (const each of group) each.sent = true;
        },
      );
      for (const [n, each] of group.entries()) each.resolve(outcomes[n] as T);
    } catch (error) {
      for (const each of group) each.reject(error);
    } finally {
      for (const each of group) each.timer.cancel();
    }
  }
}

function fitting(waiting: readonly { readonly bytes: number }[]): number {
  let count = 0;
  let total = 0;
  for (const { bytes } of waiting.slice(0, GROUP_MAX)) {
    total += bytes;
    if (count > 0 && total > GROUP_BYTES_MAX) break;
    count += 1;
  }
  return count;
}
