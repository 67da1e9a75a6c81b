/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are in the lists of facts. */
/**
 * The contract of `packages/kernel/src/store/contract.ts` as tests. Every store is held to this one suite: its own test file says how to open
 * it, and nothing else. It needs vitest, which is why it is not part of testkit's main module.
 */
import { describe, test } from "vitest";
import { commits } from "./commits.ts";
import type { StoreHarness } from "./harness.ts";
import { limits } from "./limits.ts";
import { models } from "./model.ts";
import { ranges } from "./ranges.ts";
import { restarts } from "./restarts.ts";
import { Scene } from "./scene.ts";
import { sessions } from "./sessions.ts";
import { watches } from "./watches.ts";

export type { Ability, StoreHarness } from "./harness.ts";
export { networkStoreContract, type NetworkHarness } from "./network.ts";

/** Registers the suite. `open` gives a store that this fact has for itself, or at least one without keys under `/contract/`. */
export function storeContract(name: string, open: () => Promise<StoreHarness>): void {
  let opened = 0;
  describe(name, () => {
    for (const { about, facts } of [commits, ranges, watches, sessions, models, limits, restarts]) {
      describe(about, () => {
        for (const [fact, how] of Object.entries(facts)) {
          const { needs, show } = typeof how === "function" ? { needs: [], show: how } : how;
          test(fact, async ({ skip }) => {
            opened += 1;
            const harness = await open();
            try {
              const lacking = needs
                .map((ability) => harness.lacks?.[ability])
                .find((reason) => reason !== undefined);
              if (lacking !== undefined) skip(lacking);
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
