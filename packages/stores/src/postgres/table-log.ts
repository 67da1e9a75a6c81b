/**
 * The log of changes in a table, as the change feed reads it. It is looked at when a notification or any reply names a higher revision, and now and then in any case: a
 * notification is a hint, and behind some poolers none ever comes, which shows when looking finds what was not announced.
 */
import type { Change, ChangeBatch, Clock, Revision, Timer } from "@keelson/kernel";
import type { LogFollower, LogPage } from "../feed/change-log.ts";
import { POLL_HINTED_MS, POLL_MS } from "./options.ts";

/** A change as the table has it. */
type Told =
  | { readonly put: string; readonly value: string; readonly session: string | null }
  | { readonly delete: string; readonly expired?: boolean };

export type LogRow = readonly [revision: Revision, changes: readonly Told[]];

export function batchOf([revision, changes]: LogRow, incarnation: string): ChangeBatch {
  return { revision, incarnation, changes: changes.map((change) => changeOf(change, revision)) };
}

function changeOf(told: Told, revision: Revision): Change {
  if ("put" in told) {
    const { put: key, value, session } = told;
    return {
      kind: "put",
      entry: session === null ? { key, value, revision } : { key, value, revision, session },
    };
  }
  const { delete: key, expired } = told;
  return expired === true ? { kind: "delete", key, revision, expired } : { kind: "delete", key, revision };
}

export interface TableFollowerOptions {
  readonly clock: Clock;
  /** Whether notifications may be expected. */
  readonly hinted: boolean;
  read(after: Revision): Promise<LogPage>;
  closed(follower: TableFollower): void;
}

export class TableFollower implements LogFollower {
  readonly #options: TableFollowerOptions;
  #hinted: boolean;
  /** The highest revision that anything named. */
  #named: Revision = 0;
  #timer: Timer | undefined;
  #wake: ((why: "named" | "poll" | "closed") => void) | undefined;
  #closed = false;

  constructor(options: TableFollowerOptions) {
    this.#options = options;
    this.#hinted = options.hinted;
  }

  /** A notification or a reply named this revision. One that names what is known is as good as a look. */
  notice(revision: Revision): void {
    this.#named = Math.max(this.#named, revision);
    if (this.#wake !== undefined) this.#wait(this.#wake, this.#after);
  }

  #after: Revision = 0;

  async next(after: Revision): Promise<LogPage> {
    const why = await new Promise<"named" | "poll" | "closed">((resolve) => {
      this.#wait(resolve, after);
    });
    if (why === "closed") throw new Error("the watch was closed");
    const page = await this.#options.read(after);
    if (why === "poll" && "batches" in page && page.batches.length > 0 && this.#named <= after)
      this.#hinted = false;
    return page;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.closed(this);
    this.#finish("closed");
  }

  #wait(wake: (why: "named" | "poll" | "closed") => void, after: Revision): void {
    this.#wake = wake;
    this.#after = after;
    this.#timer?.cancel();
    if (this.#closed) this.#finish("closed");
    else if (this.#named > after) this.#finish("named");
    else {
      const waitMs = this.#hinted ? POLL_HINTED_MS : POLL_MS;
      this.#timer = this.#options.clock.after(waitMs, () => this.#finish("poll"));
    }
  }

  #finish(why: "named" | "poll" | "closed"): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(why);
  }
}
