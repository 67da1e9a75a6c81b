/**
 * A store in the memory of one process: for tests, ours and our users', and for `memory:`. It keeps the whole contract, sessions and watches
 * included, on the clock it is given; it forgets everything with the process. `connect` gives another client of the same store.
 */
import type { Clock, Random, Store } from "@keelson/kernel";
import { newIncarnation } from "../core/incarnation.ts";
import { StoreCore } from "../core/store-core.ts";
import { LocalStore } from "../local/local-store.ts";
import { StoreDriver } from "../local/store-driver.ts";

export interface MemoryStoreOptions {
  readonly clock: Clock;
  /** Names the incarnation. */
  readonly random: Random;
  /** How many batches of changes are kept for watches that resume. */
  readonly historyMax?: number;
}

export class MemoryStore extends LocalStore {
  constructor({ clock, random, historyMax }: MemoryStoreOptions) {
    const core = new StoreCore({
      now: () => clock.now(),
      wall: () => clock.wall(),
      incarnation: newIncarnation(random),
      holdWatches: true,
      ...(historyMax === undefined ? {} : { historyMax }),
    });
    super(new StoreDriver(core, clock));
  }

  /** Another client: closing either leaves the other alone. */
  connect(): Store {
    return new LocalStore(this.driver);
  }
}
