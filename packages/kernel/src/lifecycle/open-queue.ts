import type { ReplicaKey } from "../identity/keys.ts";

export interface Open {
  readonly key: ReplicaKey;
  readonly what: "prepare" | "activate";
}

/**
 * Bounds how many replicas a node prepares and activates at once. What is already granted goes first: somebody is waiting for it;
 * contenders come after.
 */
export class OpenQueue {
  readonly #preparesMax: number;
  readonly #activationsMax: number;
  readonly #granted = new Map<ReplicaKey, Open["what"]>();
  readonly #contending = new Set<ReplicaKey>();
  readonly #running = new Map<ReplicaKey, Open["what"]>();
  #preparing = 0;
  #activating = 0;

  constructor(preparesMax: number, activationsMax: number) {
    this.#preparesMax = preparesMax;
    this.#activationsMax = activationsMax;
  }

  ask(key: ReplicaKey, what: Open["what"], granted: boolean): void {
    if (this.#running.has(key)) return;
    if (granted) {
      this.#contending.delete(key);
      this.#granted.set(key, what);
    } else if (!this.#granted.has(key)) this.#contending.add(key);
  }

  /** No longer wanted; what runs goes on until it is reported done. */
  forget(key: ReplicaKey): void {
    this.#granted.delete(key);
    this.#contending.delete(key);
  }

  done(key: ReplicaKey): void {
    const what = this.#running.get(key);
    if (what === undefined) return;
    this.#running.delete(key);
    if (what === "prepare") this.#preparing--;
    else this.#activating--;
  }

  /** What may start now. */
  start(): Open[] {
    const starting: Open[] = [];
    if (this.#granted.size > 0) for (const [key, what] of this.#granted) this.#tryStart(key, what, starting);
    if (this.#contending.size > 0)
      for (const key of this.#contending) if (!this.#tryStart(key, "prepare", starting)) break;
    return starting;
  }

  get waiting(): number {
    return this.#granted.size + this.#contending.size;
  }

  #tryStart(key: ReplicaKey, what: Open["what"], starting: Open[]): boolean {
    if (what === "prepare" ? this.#preparing >= this.#preparesMax : this.#activating >= this.#activationsMax)
      return false;
    this.forget(key);
    this.#running.set(key, what);
    if (what === "prepare") this.#preparing++;
    else this.#activating++;
    starting.push({ key, what });
    return true;
  }
}
