import type { Entry } from "../store/contract.ts";
import type { EraRecord } from "./tenure.ts";
import type { Rules } from "./rules.ts";

/** The open era; everything that grants guards on the revision of its record. */
export interface OpenEra {
  readonly era: number;
  readonly revision: number;
}

export type EraAction =
  /** Take a number above `above`, then commit it closed (or open, if the source says nobody can hold anything), guarded on `revision`. */
  | { readonly kind: "propose"; readonly above: number; readonly revision: number; readonly reason: string }
  /** The wait is over; or the era is open, and its record must allow for longer sessions. */
  | { readonly kind: "open"; readonly record: EraRecord; readonly revision: number };

/**
 * Keeps epochs from ever falling: decides when the store is not the store it was, closes the old era, waits until every old holder has
 * fenced itself, and opens the next. Any node does this; guards let one succeed.
 */
export class EraMachine {
  readonly #rules: Rules;
  readonly #ownTtlMsMax: number;
  /** The longest of this node's and of any record it has seen. */
  #ttlMsMax: number;
  #remembered: number;
  #record: EraRecord | undefined;
  #revision = 0;
  #incarnation: string | undefined;
  #fallen = false;
  #closedSeen: { revision: number; at: number } | undefined;
  #busyUntil = -Infinity;

  constructor(rules: Rules, ttlMsMax: number, remembered: number) {
    this.#rules = rules;
    this.#ownTtlMsMax = ttlMsMax;
    this.#ttlMsMax = ttlMsMax;
    this.#remembered = remembered;
  }

  /** The greatest era this node has seen; it must survive restarts where there is a folder to remember it in. */
  get remembered(): number {
    return this.#remembered;
  }

  /** How long a closed era must wait, as far as this node knows. */
  get ttlMsMax(): number {
    return this.#ttlMsMax;
  }

  /** The era to open sessions under: that of the record, once the record is of this store and allows for sessions as long as ours. */
  get current(): number | undefined {
    return this.#valid() && !this.#tooShort() ? this.#record!.era : undefined;
  }

  get open(): OpenEra | undefined {
    if (!this.#valid() || this.#record!.phase !== "open" || this.#tooShort()) return undefined;
    return { era: this.#record!.era, revision: this.#revision };
  }

  /** What the copy of the store shows. `fallen`: it is older than what was seen before, so writes were lost. */
  observe(entry: Entry | undefined, incarnation: string, fallen: boolean, now: number): void {
    if (fallen) this.#fallen = true;
    this.#incarnation = incarnation;
    const record = entry === undefined ? undefined : (JSON.parse(entry.value) as EraRecord);
    const revision = entry?.revision ?? 0;
    if (record && record.era > this.#remembered) this.#fallen = false;
    this.#record = record;
    this.#revision = revision;
    if (!this.#valid()) {
      this.#closedSeen = undefined;
      return;
    }
    this.#remembered = Math.max(this.#remembered, record!.era);
    this.#ttlMsMax = Math.max(this.#ttlMsMax, record!.ttlMsMax);
    if (record!.phase === "open") this.#closedSeen = undefined;
    else if (this.#closedSeen?.revision !== revision) this.#closedSeen = { revision, at: now };
  }

  /** A proposal or an opening was sent; do not send another for a while. */
  sent(until: number): void {
    this.#busyUntil = until;
  }

  tick(now: number): EraAction | undefined {
    if (this.#incarnation === undefined || now < this.#busyUntil) return undefined;
    if (!this.#valid()) {
      return { kind: "propose", above: this.#above(), revision: this.#revision, reason: this.#why() };
    }
    const opens = this.#record!.phase === "closed" ? now >= this.#openAt() : this.#tooShort();
    if (!opens) return undefined;
    return { kind: "open", record: { ...this.#record!, ttlMsMax: this.#ttlMsMax }, revision: this.#revision };
  }

  wakeAt(): number {
    if (this.#incarnation === undefined) return Infinity;
    if (!this.#valid()) return this.#busyUntil;
    if (this.#record!.phase === "open") return this.#tooShort() ? this.#busyUntil : Infinity;
    return Math.max(this.#openAt(), this.#busyUntil);
  }

  #openAt(): number {
    const wait = this.#rules.eraWait ? this.#ttlMsMax : 0;
    return (this.#closedSeen?.at ?? Infinity) + wait;
  }

  /** Our sessions would outlive the wait that the record promises: it is raised before we open any. */
  #tooShort(): boolean {
    return this.#record!.ttlMsMax < this.#ownTtlMsMax;
  }

  #above(): number {
    const stored = this.#record?.era ?? 0;
    return this.#rules.eraUnique ? Math.max(stored, this.#remembered) : stored;
  }

  #valid(): boolean {
    const record = this.#record;
    if (!record || this.#fallen) return false;
    if (this.#rules.eraUnique && this.#rules.era && record.era < this.#remembered) return false;
    return record.incarnation === this.#incarnation;
  }

  #why(): string {
    if (!this.#record) return "the store holds no era";
    if (this.#fallen) return "the store is older than what was seen before: it lost writes";
    if (this.#record.era < this.#remembered)
      return `the store names era ${this.#record.era}, below ${this.#remembered} which was seen before`;
    return "the store is new, restored or lost writes: its incarnation changed";
  }
}
