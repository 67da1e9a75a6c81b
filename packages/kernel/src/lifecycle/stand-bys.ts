import type { ReplicaKey } from "../identity/keys.ts";

/**
 * The replicas that this node takes over when others fail, and that it has never had to look at. There are three of them for each that it should hold, so they cost next to nothing: a key, and when
 * to look at it. Those of one plan are looked at together.
 */
export class StandBys {
  /** Infinity while somebody holds it. */
  readonly #at = new Map<ReplicaKey, number>();
  /** In the order of their times. */
  #rounds: { readonly at: number; readonly keys: ReplicaKey[] }[] = [];

  has(key: ReplicaKey): boolean {
    return this.#at.has(key);
  }

  /** Looked at when `at` has come, unless somebody holds it by then; Infinity when somebody does. */
  add(key: ReplicaKey, at: number): void {
    this.#at.set(key, at);
    if (at === Infinity) return;
    const last = this.#rounds.at(-1);
    if (last?.at === at) last.keys.push(key);
    else this.#rounds.push({ at, keys: [key] });
  }

  /** Somebody holds it: as good as no news. */
  held(key: ReplicaKey): void {
    this.#at.set(key, Infinity);
  }

  forget(key: ReplicaKey): void {
    this.#at.delete(key);
  }

  /** Forgets those of a service: another plan says who stands by. */
  clear(service: string): void {
    const prefix = `${service}/`;
    for (const key of this.#at.keys()) if (key.startsWith(prefix)) this.#at.delete(key);
  }

  next(): number | undefined {
    return this.#rounds[0]?.at;
  }

  /** Whose time has come. */
  due(now: number): ReplicaKey[] {
    const due: ReplicaKey[] = [];
    for (let round = this.#rounds[0]; round && round.at <= now; round = this.#rounds[0]) {
      for (const key of round.keys) if (this.#at.get(key) === round.at) due.push(key);
      this.#rounds.shift();
    }
    return due;
  }
}
