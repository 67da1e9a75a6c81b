/**
 * The last things that happened in the fleet, as a copy of the store saw them. It begins when the copy does: what happened before is not known
 * here. Readers keep a cursor, and are told when they fell behind what is kept.
 */
import type { Clock, ImageChange, Keys } from "@keelson/kernel";
import type { Mirror } from "../mirror/mirror.ts";
import type { EventPage, EventQuery, FleetEvent } from "./contract.ts";
import { eventOf } from "./event-words.ts";

const eventsMax = 10_000;
const eventsPageMax = 1_000;
const PAGE = 200;
/** How many are shown to a reader that brings no cursor. */
const RECENT = 20;
/** Readers that wait at once; more are answered with an empty page. */
const waitersMax = 1_000;

export class EventLog {
  readonly #clock: Clock;
  readonly #keys: Keys;
  readonly #id: string;
  readonly #events: FleetEvent[] = [];
  #waiters: (() => void)[] = [];
  #seq = 0;
  #skip = false;

  /** `id` tells this log's cursors from those of another process. */
  constructor(options: { readonly clock: Clock; readonly keys: Keys; readonly id: string }) {
    this.#clock = options.clock;
    this.#keys = options.keys;
    this.#id = options.id;
  }

  /** Follows the mirror from now on; returns how to end that. */
  follow(mirror: Mirror): () => void {
    let known = false;
    return mirror.subscribe({
      listed: () => {
        // The first listing is told as changes too, if there is anything to tell; that is how things are, not what happened.
        this.#skip = !known && mirror.image.size > 0;
        known = true;
      },
      changed: (changes) => {
        if (this.#skip) this.#skip = false;
        else this.add(changes);
      },
    });
  }

  add(changes: readonly ImageChange[]): void {
    const at = this.#clock.wall();
    const before = this.#seq;
    for (const change of changes) {
      const words = eventOf(this.#keys, change);
      if (!words) continue;
      this.#events.push({ seq: ++this.#seq, at, ...words });
    }
    if (this.#events.length > eventsMax) this.#events.splice(0, this.#events.length - eventsMax);
    if (this.#seq === before) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** The last ones, oldest first. */
  recent(count: number): readonly FleetEvent[] {
    return this.#events.slice(-count);
  }

  page({ after, limit = PAGE }: EventQuery): EventPage {
    const most = Math.min(eventsPageMax, Math.max(1, limit));
    const from = this.#from(after);
    const first = this.#events[0]?.seq ?? this.#seq + 1;
    const start = Math.max(0, (from ?? this.#seq - RECENT) + 1 - first);
    const events = this.#events.slice(start, start + most);
    const last = events.at(-1)?.seq ?? this.#seq;
    const missed = after !== undefined && (from === undefined || from + 1 < first);
    return { events, cursor: `${this.#id}-${last}`, missed };
  }

  /** Resolves when something is there after the cursor, or the time is up. */
  async wait(query: EventQuery): Promise<EventPage> {
    const page = this.page(query);
    const { waitMs = 0 } = query;
    if (page.events.length > 0 || waitMs <= 0 || this.#waiters.length >= waitersMax) return page;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(waitMs, resolve);
      this.#waiters.push(() => {
        timer.cancel();
        resolve();
      });
    });
    return this.page({ ...query, after: query.after ?? page.cursor });
  }

  /** The number in a cursor of this log; undefined for none, or one of another log. */
  #from(cursor: string | undefined): number | undefined {
    if (cursor === undefined || !cursor.startsWith(`${this.#id}-`)) return undefined;
    const seq = Number(cursor.slice(this.#id.length + 1));
    return Number.isSafeInteger(seq) && seq >= 0 ? Math.min(seq, this.#seq) : undefined;
  }
}
