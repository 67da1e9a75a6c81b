import { Fence } from "../tenure/fence.ts";
import type { Rules } from "../tenure/rules.ts";
import type { Terms } from "../tenure/terms.ts";

/** Liveness carries tenures; membership carries the member key. Two sessions, so that a leaving node can drop the second first. */
export type SessionRole = "liveness" | "membership";

export interface HeldSession {
  readonly id: string;
  readonly role: SessionRole;
  /** The era the session was opened under; one of an older era is given up. */
  readonly era: number;
  readonly fence: Fence;
}

export type SessionAction =
  | { readonly kind: "open"; readonly role: SessionRole; readonly era: number }
  | { readonly kind: "renew"; readonly sessions: readonly string[] }
  | { readonly kind: "revoke"; readonly session: string };

/**
 * Renewals fall on so many fixed moments of a renewal period, by this process's clock: those of many nodes in one process come together, and a store client sends them together. Each is at most a
 * slot earlier than it need be.
 */
const RENEW_SLOTS = 20;

const BOTH: readonly SessionRole[] = ["liveness", "membership"];
const STAYING: readonly SessionRole[] = ["liveness"];

/**
 * Decides when to open, renew and give up a node's two sessions, and until when the liveness session lets it serve.
 * It never brings a lost session back: what is opened next has a new id and a new fence.
 */
export class SessionMachine {
  readonly #terms: Terms;
  readonly #rules: Rules;
  #sessions = new Map<SessionRole, HeldSession>();
  #opening = new Set<SessionRole>();
  #retryAt = new Map<SessionRole, number>();
  #renewAt = Infinity;
  #renewing = false;
  #era: number | undefined;
  #leaving = false;
  #stopped = false;

  constructor(terms: Terms, rules: Rules) {
    this.#terms = terms;
    this.#rules = rules;
  }

  get liveness(): HeldSession | undefined {
    return this.#sessions.get("liveness");
  }

  get membership(): HeldSession | undefined {
    return this.#sessions.get("membership");
  }

  /** The era that sessions must belong to. Older ones are revoked by us, their owner, and their fences end here and now. */
  setEra(era: number): SessionAction[] {
    if (this.#era === era) return [];
    const before = this.#era;
    this.#era = era;
    if (before === undefined) return [];
    if (!this.#rules.eraRevoke) {
      for (const [role, session] of this.#sessions) this.#sessions.set(role, { ...session, era });
      return [];
    }
    const actions: SessionAction[] = [];
    for (const session of this.#sessions.values()) {
      session.fence.end();
      actions.push({ kind: "revoke", session: session.id });
    }
    this.#sessions.clear();
    return actions;
  }

  /** Leaving is final: membership goes now and never comes back; liveness stays until `stop`. */
  leave(): SessionAction[] {
    this.#leaving = true;
    const membership = this.#sessions.get("membership");
    if (!membership) return [];
    this.#sessions.delete("membership");
    membership.fence.end();
    return [{ kind: "revoke", session: membership.id }];
  }

  /** Nothing is held any more: the liveness session goes too. */
  stop(): SessionAction[] {
    this.#stopped = true;
    const actions: SessionAction[] = [];
    for (const session of this.#sessions.values()) {
      session.fence.end();
      actions.push({ kind: "revoke", session: session.id });
    }
    this.#sessions.clear();
    return actions;
  }

  opened(
    role: SessionRole,
    id: string,
    era: number,
    ttlMs: number,
    sentAt: number,
    receivedAt: number,
  ): SessionAction[] {
    this.#opening.delete(role);
    const unwanted =
      this.#stopped ||
      (this.#leaving && role === "membership" && this.#rules.leavingFinal) ||
      era !== this.#era;
    if (unwanted) return [{ kind: "revoke", session: id }];
    const former = this.#sessions.get(role)?.fence;
    const fence = !this.#rules.sessionDeadline && former ? former : new Fence(id);
    fence.extend(this.#deadline(sentAt, receivedAt, ttlMs));
    this.#sessions.set(role, { id, role, era, fence });
    this.#retryAt.delete(role);
    this.#renewAt = Math.min(this.#renewAt, this.#nextRenewal(sentAt));
    return [];
  }

  openFailed(role: SessionRole, now: number): void {
    this.#opening.delete(role);
    this.#retryAt.set(role, now + this.#terms.renewRetryMs);
  }

  /** A renewal's reply. `counts` is false when the reply came from another incarnation, or the copy of the store is not live. */
  renewed(
    alive: readonly string[],
    gone: readonly string[],
    sentAt: number,
    receivedAt: number,
    counts: boolean,
  ): HeldSession[] {
    this.#renewing = false;
    this.#renewAt = counts ? this.#nextRenewal(sentAt) : receivedAt + this.#terms.renewRetryMs;
    if (!counts) return [];
    const lost: HeldSession[] = [];
    for (const [role, session] of this.#sessions) {
      if (alive.includes(session.id))
        session.fence.extend(this.#deadline(sentAt, receivedAt, this.#terms.ttlMs));
      else if (gone.includes(session.id)) {
        lost.push(session);
        if (this.#rules.sessionDeadline) session.fence.end();
        if (this.#rules.sessionDeadline || role === "membership") this.#sessions.delete(role);
        else this.#sessions.set(role, { ...session, id: "" });
      }
    }
    return lost;
  }

  renewFailed(now: number): void {
    this.#renewing = false;
    this.#renewAt = now + this.#terms.renewRetryMs;
  }

  /** What is due now. */
  tick(now: number): SessionAction[] {
    if (this.#stopped || this.#era === undefined) return [];
    const actions: SessionAction[] = [];
    for (const role of this.#wanted()) {
      const have = this.#sessions.get(role);
      if ((have && have.id !== "") || this.#opening.has(role) || (this.#retryAt.get(role) ?? -Infinity) > now)
        continue;
      this.#opening.add(role);
      actions.push({ kind: "open", role, era: this.#era });
    }
    if (!this.#renewing && now >= this.#renewAt) {
      const sessions = [...this.#sessions.values()].map((s) => s.id).filter((id) => id !== "");
      if (sessions.length === 0) this.#renewAt = Infinity;
      else {
        this.#renewing = true;
        actions.push({ kind: "renew", sessions });
      }
    }
    return actions;
  }

  wakeAt(): number {
    if (this.#stopped) return Infinity;
    let at = this.#renewing ? Infinity : this.#renewAt;
    for (const role of this.#wanted()) {
      const have = this.#sessions.get(role);
      if ((!have || have.id === "") && !this.#opening.has(role))
        at = Math.min(at, this.#retryAt.get(role) ?? -Infinity);
    }
    return at;
  }

  #nextRenewal(sentAt: number): number {
    const slotMs = this.#terms.renewMs / RENEW_SLOTS;
    return Math.floor((sentAt + this.#terms.renewMs) / slotMs) * slotMs;
  }

  #wanted(): readonly SessionRole[] {
    return this.#leaving ? STAYING : BOTH;
  }

  /** The store counts the TTL from when the call reached it, which is after it was sent: our deadline is always the earlier one. */
  #deadline(sentAt: number, receivedAt: number, ttlMs: number): number {
    const from = this.#rules.sendTime ? sentAt : receivedAt;
    const ttl = Math.min(ttlMs, this.#terms.ttlMs);
    return this.#rules.rateFactor ? from + 0.9 * ttl - this.#terms.marginMs : from + ttl;
  }
}
