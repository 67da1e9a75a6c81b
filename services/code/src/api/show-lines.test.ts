import { expect, test } from "vitest";
import { showLines } from "./show-lines.ts";

const ESCAPE = "\u001b[2J";

test("prints lines with their place, says what is missing, and nothing of others' texts moves the cursor", async () => {
  const items = [
    { kind: "begin", Problem: `old ${ESCAPE}` },
    {
      kind: "lines",
      Repository: "r",
      Version: "0123456789abcdef",
      Lines: [{ path: `a${ESCAPE}`, line: 3, text: `x${ESCAPE}` }, { path: "named" }],
    },
    { kind: "repository", Repository: "r", Partial: "time-cap", Stale: `away ${ESCAPE}` },
    { kind: "missing", Repository: "s", Code: "NO_HOLDER", Why: `nobody ${ESCAPE}` },
    { kind: "end", FileCount: 2, LineCount: 1, MatchCount: 1 },
  ];
  const printed: string[] = [];
  const print = { line: (text: string) => void printed.push(text) };
  await showLines(
    {
      follow: async function* () {
        yield* items;
      },
      print: print as unknown as Parameters<typeof showLines>[0]["print"],
    },
    { query: "x", literal: false },
  );
  expect(printed.join("\n")).not.toContain("\u001b");
  expect(printed.map((line) => line.replaceAll("\\u{1b}[2J", "!"))).toEqual([
    "partial: old !",
    "r@0123456789ab:a!:3: x!",
    "r@0123456789ab:named",
    "partial: r: time-cap",
    "old: r: away !",
    "partial: s did not answer: nobody !",
    "1 lines with 1 matches in 2 files",
  ]);
});
