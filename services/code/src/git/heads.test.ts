import { expect, test } from "vitest";
import { chooseHeads } from "./heads.ts";

test("refuses branches whose names together are more than a record of them can hold", () => {
  const oid = "a".repeat(40);
  const branches = new Map(Array.from({ length: 20 }, (_, i) => [`${i}/${"n".repeat(1_000)}`, oid]));
  const choose = (pattern: string): unknown =>
    chooseHeads({ defaultBranch: undefined, branches }, [pattern], "a/b").heads.length;
  expect(choose("1*")).toBe(11);
  expect(() => choose("*")).toThrow(/20\d\d\d bytes, and 16384 are possible: name fewer/);
});
