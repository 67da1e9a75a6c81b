import type { KeyKind, Keys } from "../identity/keys.ts";
import type { Commit, Entry } from "../store/contract.ts";

/** What a controller may look at: the manager's copy of the store. */
export interface ControllerInput {
  readonly keys: Keys;
  get(key: string): Entry | undefined;
  entries(): Iterable<Entry>;
  readonly now: number;
}

/** A change a controller wants, with its reason. The manager adds the guards that make it fail once it is no longer the manager. */
export interface Proposal {
  readonly commit: Commit;
  readonly reason: string;
}

/**
 * One concern that the elected manager looks after for the whole fleet. Pure: it reads the copy and proposes guarded commits; called again
 * after every change (debounced) and every period, it must propose nothing when nothing is amiss.
 */
export interface Controller {
  readonly name: string;
  /** Changes under these kinds of key call it. */
  readonly kinds: readonly KeyKind[];
  readonly debounceMs: number;
  readonly periodMs: number;
  reconcile(input: ControllerInput): readonly Proposal[];
}
