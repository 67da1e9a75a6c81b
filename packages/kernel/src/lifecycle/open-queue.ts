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
  /** What waits, and is granted: to be activated, or to be prepared first. */
  readonly #activations = new Set<ReplicaKey>();
  readonly #prepares = new Set<ReplicaKey>();
  /** What waits to be prepared, and is not granted. */
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
      this.forget(key);
      (what === "prepare" ? this.#prepares : this.#activations).add(key);
    } else if (!this.#prepares.has(key) && !this.#activations.has(key)) this.#contending.add(key);
  }

  /** No longer wanted; what runs goes on until it is reported done. */
  forget(key: ReplicaKey): void {
    this.#activations.delete(key);
    this.#prepares.delete(key);
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
    for (const key of this.#activations) {
      if (this.#activating >= this.#activationsMax) break;
      this.#activating++;
      this.#run(key, "activate", starting);
    }
    for (const waiting of [this.#prepares, this.#contending]) {
      for (const key of waiting) {
        if (this.#preparing >= this.#preparesMax) break;
        this.#preparing++;
        this.#run(key, "prepare", starting);
      }
    }
    return starting;
  }

  get waiting(): number {
    return this.#activations.size + this.#prepares.size + this.#contending.size;
  }

  #run(key: ReplicaKey, what: Open["what"], starting: Open[]): void {
    this.forget(key);
    this.#running.set(key, what);
    starting.push({ key, what });
  }
}
