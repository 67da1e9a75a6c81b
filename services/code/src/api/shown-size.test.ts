import { expect, test } from "vitest";
import { bytesOfFile, type FileMatch, type LineMatch } from "../engine/index.ts";
import type { AnsweringRepository } from "../search/search-request.ts";
import { shownSize } from "./shown-size.ts";
import { zoektItem } from "./zoekt-json.ts";

const repository: AnsweringRepository = { id: 1, name: "r", url: "", rank: 0, heads: [], indexedAt: 0 };

function fileOf(lines: readonly LineMatch[], debug?: string): FileMatch {
  return {
    document: 0,
    path: "a.txt",
    oid: "00",
    language: "",
    branches: [],
    score: 1,
    matchCount: 1,
    pathRanges: [],
    lines,
    ...(debug === undefined ? {} : { debug }),
  };
}

function crossing(lines: number, line: string): LineMatch {
  const text = Buffer.from(line.repeat(lines));
  const end = { offset: text.length, line: lines, column: line.length };
  const ranges = [{ start: { offset: 0, line: 1, column: 1 }, end }];
  return { line: 1, start: 0, end: text.length, text, score: 1, ranges, before: NONE, after: NONE };
}
const NONE = Buffer.alloc(0);

test.each([0, 3, 100])(
  "with %i lines around each, lines of one match that are shown one by one take about what was counted",
  async (contextLines) => {
    const file = fileOf([crossing(400, "some text of a line\n")]);
    const item = await zoektItem({ kind: "files" }, [{ file, repository }], {
      NumContextLines: contextLines,
    });
    const counted = shownSize(file, { linesApart: true, contextLines });
    expect(item.bytes).toBeGreaterThan(counted / 4);
    expect(item.bytes).toBeLessThan(counted * 4);
    expect(shownSize(file, { linesApart: false, contextLines })).toBe(bytesOfFile(file));
  },
);

test("what is said of scores is counted", () => {
  const said = "x".repeat(500);
  const line = crossing(1, "text\n");
  const before = bytesOfFile(fileOf([line]));
  expect(bytesOfFile(fileOf([{ ...line, debug: said }], said)) - before).toBe(1_000);
});
