/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are in the lists of facts. */
/**
 * The contract of `packages/kernel/src/store/contract.ts` as tests. Every store is held to this one suite: its own test file says how to open
 * it, and nothing else. It needs vitest, which is why it is not part of testkit's main module.
 */
import { describe, test } from "vitest";
import { commits } from "./commits.ts";
import { claimed } from "./facts.ts";
import type { Ability, StoreHarness } from "./harness.ts";
import { limits } from "./limits.ts";
import { models } from "./model.ts";
import { ranges } from "./ranges.ts";
import { restarts } from "./restarts.ts";
import { Scene } from "./scene.ts";
import { sessions } from "./sessions.ts";
import { watches } from "./watches.ts";

export type { Ability, StoreHarness } from "./harness.ts";
export { networkStoreContract, type NetworkHarness } from "./network.ts";

/**
 * Registers the suite. `open` gives a store that this fact has for itself, or at least one without keys under `/contract/`. What the store `lacks` is said beforehand: no fact is claimed of it
 * that it cannot show, so none is skipped.
 */
export function storeContract(
  name: string,
  open: () => Promise<StoreHarness>,
  lacks: readonly Ability[] = [],
): void {
  let opened = 0;
  describe(name, () => {
    for (const part of [commits, ranges, watches, sessions, models, limits, restarts]) {
      const claims = claimed(part, lacks);
      if (claims.length === 0) continue;
      describe(part.about, () => {
        for (const [fact, show] of claims) {
          test(fact, async () => {
            opened += 1;
            const harness = await open();
            try {
              const prefix = `/contract/${opened}/`;
              const { incarnation } = await harness.store.range(prefix, { timeoutMs: 10_000 });
              await show(new Scene(harness, prefix, incarnation));
            } finally {
              await harness.close();
            }
          });
        }
      });
    }
  });
}
