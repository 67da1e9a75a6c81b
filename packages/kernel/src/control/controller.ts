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
 * One concern that the elected manager looks after for the whole fleet. It reads the copy and proposes guarded commits, and touches nothing else; called again
 * after every change (debounced) and every period, it must propose nothing when nothing is amiss. What it remembers it must be able to do without.
 */
export interface Controller {
  readonly name: string;
  /** Changes under these kinds of key call it. */
  readonly kinds: readonly KeyKind[];
  readonly debounceMs: number;
  readonly periodMs: number;
  reconcile(input: ControllerInput): readonly Proposal[];
  /** Called instead on nodes that are not the manager, for what a controller has to have seen when its node is elected. Must be cheap. */
  observe?(input: ControllerInput): void;
  /** A proposal of its own did not become true, or perhaps not: it will be called again soon. */
  refused?(): void;
  /** By the same clock as `now`: when to be called although nothing has happened. */
  wakeAt?(): number;
}
