/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are in the lists of facts. */
/** What a journal promises, as tests, for journals in files and in objects alike. */
import { describe, test } from "vitest";
import type { Objects } from "../../contract.ts";
import { appends } from "./appends.ts";
import { fences } from "./fences.ts";
import { JournalScene } from "./scene.ts";
import { trims } from "./trims.ts";

/** Registers the suite. `open` gives objects that hold no journal yet. */
export function journalContract(name: string, open: () => Promise<Objects>): void {
  describe(name, () => {
    for (const { about, facts } of [appends, trims, fences]) {
      describe(about, () => {
        for (const [fact, show] of Object.entries(facts)) {
          test(fact, async () => {
            const objects = await open();
            const scene = new JournalScene(objects);
            try {
              await show(scene);
            } finally {
              await scene.close();
              await objects.close();
            }
          });
        }
      });
    }
  });
}
