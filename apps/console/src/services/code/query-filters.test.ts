import { expect, test } from "vitest";
import {
  fileFilter,
  folderFilter,
  hasFilter,
  languageFilter,
  literalFilters,
  repositoryFilter,
  toggleFilter,
} from "./query-filters.ts";

test("a filter is written at the end of the query, and taken out again with its space", () => {
  const filter = languageFilter("Go");
  const on = toggleFilter("func main", filter);
  expect(on).toBe("func main lang:Go");
  expect(hasFilter(on, filter)).toBe(true);
  expect(toggleFilter(on, filter)).toBe("func main");
  expect(toggleFilter(`a ${filter} b`, filter)).toBe("a b");
  expect(toggleFilter("", filter)).toBe(filter);
});

test("a filter that is a part of a longer word is not there", () => {
  expect(hasFilter("lang:Golo", "lang:Go")).toBe(false);
  expect(hasFilter("-lang:Go", "lang:Go")).toBe(false);
  expect(hasFilter('"see lang:Go"', "lang:Go")).toBe(false);
  expect(toggleFilter("lang:Golo", "lang:Go")).toBe("lang:Golo lang:Go");
});

test("names are taken as they are: as expressions, and in quotes when they have spaces", () => {
  expect(repositoryFilter("a.b/c+")).toBe(String.raw`repo:^a\.b/c\+$`);
  expect(languageFilter("Protocol Buffer")).toBe('lang:"Protocol Buffer"');
  expect(literalFilters("a.b", 'c d\\"e')).toBe(String.raw`repo:a.b file:"c d\\\"e"`);
  expect(folderFilter("my docs/")).toBe('file:^"my docs/"');
  expect(folderFilter("")).toBe("file:^[^/]+$");
  expect(fileFilter("src/a.ts")).toBe(String.raw`file:^src/a\.ts$`);
  expect(
    toggleFilter(toggleFilter("x", languageFilter("Protocol Buffer")), languageFilter("Protocol Buffer")),
  ).toBe("x");
});
