/**
 * The sessions of a store and the keys bound to each. It knows deadlines and ids; what the end of a session does to the keys is the
 * core's business.
 */

export interface Session {
  readonly id: string;
  readonly ttlMs: number;
  /** On the store's monotonic clock. */
  deadline: number;
  readonly keys: Set<string>;
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();
  /** No session ends before this. Renewals only move deadlines away, so it may be early and is corrected when it is reached. */
  #earliest = Infinity;

  get size(): number {
    return this.#sessions.size;
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  all(): IterableIterator<Session> {
    return this.#sessions.values();
  }

  open(id: string, ttlMs: number, deadline: number): Session {
    const session: Session = { id, ttlMs, deadline, keys: new Set() };
    this.#sessions.set(id, session);
    if (deadline < this.#earliest) this.#earliest = deadline;
    return session;
  }

  delete(id: string): void {
    this.#sessions.delete(id);
  }

  /** Whether some session may have reached its deadline: one comparison, so that every operation can ask. */
  mayHaveExpired(now: number): boolean {
    return now >= this.#earliest;
  }

  /** No session ends before this; undefined when there is none. */
  get earliest(): number | undefined {
    return this.#sessions.size === 0 ? undefined : this.#earliest;
  }

  /** The sessions whose deadline has come, earliest first; in the order they were opened where deadlines are equal. */
  expired(now: number): Session[] {
    const ended: Session[] = [];
    let earliest = Infinity;
    for (const session of this.#sessions.values()) {
      if (now >= session.deadline) ended.push(session);
      else if (session.deadline < earliest) earliest = session.deadline;
    }
    this.#earliest = earliest;
    return ended.sort((a, b) => a.deadline - b.deadline);
  }
}
