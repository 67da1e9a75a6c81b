/** What a place for objects must bring to be held to the contract: two clients of it, a way to damage what it stores, and one that is silent. */
import type { Objects } from "../contract.ts";

export interface ObjectHarness {
  /** A client, and another one of the same place. */
  readonly objects: Objects;
  readonly second: Objects;
  /** Changes one stored byte of an object, behind the clients' back. `at` counts in what is stored. */
  damage(key: string, at: number): Promise<void>;
  /** A client of a place that takes the request for `key` and never answers. Undefined where there is nothing to wait for. */
  silent(key: string): Promise<Objects | undefined>;
  close(): Promise<void>;
}
