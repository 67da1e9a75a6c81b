import { expect, test } from "vitest";
import { parseQuery } from "../query/index.ts";
import { meantBy } from "./meant.ts";

const rows = Array.from({ length: 100_000 }, (_, id) => ({
  id,
  name: `host/group-${id % 977}/repository-${id}`,
  archived: false,
  fork: false,
  public: true,
  metadata: {},
}));

test("a hundred thousand names are looked at in many turns of the event loop", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const found = await meantBy(parseQuery("x repo:group-5/.*-(?:17|982)$"), rows, 60_000);
  clearInterval(timer);
  expect(found.filter(({ query }) => query.kind !== "const").map(({ row }) => row.id)).toEqual([982]);
  expect(turns).toBeGreaterThan(0);
});

test.each([
  ["that takes longer than there is time", "(?:\\w?.?)".repeat(100)],
  ["that is too large for names", "(?:a{1,200}b){1,200}"],
])("an expression %s is refused", async (_, expression) => {
  const refused = meantBy(parseQuery(`x repo:${expression}zz`), rows, 1);
  await expect(refused).rejects.toThrow(RangeError);
});
