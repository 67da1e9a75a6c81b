import { describe, expect, it } from "vitest";
import { BREAKABLE } from "../breaks.ts";
import { hunt } from "./hunt.ts";

/** Each rule's seed at which it was last caught soonest; when the code has changed so much that it no longer is, the others are tried. */
const firstSeed: Readonly<Record<string, number>> = {
  "era-guard": 4,
  "bid-rounds": 20,
};

/** How long each run lasts, where what must come together takes longer than four minutes. */
const minutesEach: Readonly<Record<string, number>> = { "era-guard": 8, era: 10 };

function* seeds(rule: string): Iterable<number> {
  const first = firstSeed[rule] ?? 1;
  yield first;
  for (let seed = 1; ; seed++) if (seed !== first) yield seed;
}

const minuteMs = 60_000;

/** What catches a rule may be any checker: a broken rule seldom breaks one promise only. */
describe.each(BREAKABLE.map(({ name }) => name))("without the rule %s", (rule) => {
  it("something goes wrong within four simulated hours", { timeout: 60_000 }, async () => {
    const caught = await hunt(rule, seeds(rule), (minutesEach[rule] ?? 4) * minuteMs, 240 * minuteMs);
    expect(caught?.violation.text).toBeTypeOf("string");
  });
});
