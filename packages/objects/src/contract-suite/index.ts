/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are in the lists of facts. */
/**
 * The contract of `contract.ts` as tests. Every place for objects is held to this one suite: its own test file says how to open it, and nothing
 * else. It needs vitest, which is why it is not part of the main module.
 */
import { describe, test } from "vitest";
import { deadlines } from "./deadlines.ts";
import type { ObjectHarness } from "./harness.ts";
import { lists } from "./lists.ts";
import { names } from "./names.ts";
import { reads } from "./reads.ts";
import { Scene } from "./scene.ts";
import { streams } from "./streams.ts";
import { writes } from "./writes.ts";

export type { ObjectHarness } from "./harness.ts";
export { journalContract } from "./journal/index.ts";

/** Registers the suite. Each fact opens a harness and uses only keys under `contract/<n>/`. */
export function objectContract(name: string, open: () => Promise<ObjectHarness>): void {
  let opened = 0;
  describe(name, () => {
    for (const { about, facts } of [writes, reads, lists, names, streams, deadlines]) {
      describe(about, () => {
        for (const [fact, show] of Object.entries(facts)) {
          test(fact, async () => {
            opened += 1;
            const harness = await open();
            try {
              await show(new Scene(harness, `contract/${opened}/`));
            } finally {
              await harness.close();
            }
          });
        }
      });
    }
  });
}
