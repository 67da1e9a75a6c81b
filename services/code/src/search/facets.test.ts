import { expect, test } from "vitest";
import type { FileMatch } from "../engine/index.ts";
import { FacetSum, facetsOf } from "./facets.ts";

const file = (path: string, language: string): FileMatch => ({
  document: 0,
  path,
  oid: "",
  language,
  branches: [],
  score: 1,
  matchCount: 1,
  pathRanges: [],
  lines: [],
});

const files = [file("src/a/x.go", "Go"), file("src/y.go", "Go"), file("README", "")];

test("counts files by language and by first folder", () => {
  expect(facetsOf(files, 3)).toEqual({
    languages: { Go: 2, "": 1 },
    folders: { "src/": 2, "": 1 },
    exact: true,
  });
});

test("says that it is not exact when more files match than were looked at", () => {
  expect(facetsOf(files, 4).exact).toBe(false);
});

test("puts repositories together, most files first", () => {
  const sum = new FacetSum();
  sum.add("one", 3, facetsOf(files, 3));
  sum.add("two", 9, facetsOf([file("src/z.ts", "TypeScript")], 9));
  sum.add("none", 0, facetsOf([], 0));
  expect(sum.shown()).toEqual({
    Repositories: [
      { Name: "two", Files: 9 },
      { Name: "one", Files: 3 },
    ],
    Languages: [
      { Name: "Go", Files: 2 },
      { Name: "", Files: 1 },
      { Name: "TypeScript", Files: 1 },
    ],
    Folders: [
      { Name: "src/", Files: 3 },
      { Name: "", Files: 1 },
    ],
    Exact: false,
  });
});
