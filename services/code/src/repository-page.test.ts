import { expect, test } from "vitest";
import type { Repository } from "./repository.ts";
import { pageOf } from "./repository-page.ts";

const rows = Array.from({ length: 7 }, (_, i) => ({ id: 2 * i + 1, name: `r${2 * i + 1}` }) as Repository);
const ids = ({ rows: page, next }: ReturnType<typeof pageOf>): unknown => [page.map(({ id }) => id), next];

test("pages follow one another, and the last one has no next", () => {
  expect(ids(pageOf(rows, { limit: 3 }))).toEqual([[1, 3, 5], 5]);
  expect(ids(pageOf(rows, { after: 5, limit: 3 }))).toEqual([[7, 9, 11], 11]);
  expect(ids(pageOf(rows, { after: 11, limit: 3 }))).toEqual([[13], undefined]);
  expect(ids(pageOf(rows, { after: 7, limit: 3 }))).toEqual([[9, 11, 13], undefined]);
});

test("a page after a repository that was removed begins with the next one", () => {
  expect(ids(pageOf(rows, { after: 4, limit: 1 }))).toEqual([[5], 5]);
  expect(ids(pageOf([], { after: 4 }))).toEqual([[], undefined]);
});

test("a name is looked for in all of the list", () => {
  expect(ids(pageOf(rows, { name: "1", limit: 2 }))).toEqual([[1, 11], 11]);
});
