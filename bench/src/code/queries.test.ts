import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readQueries } from "./queries.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-queries-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function queries(text: string): Promise<readonly string[]> {
  const file = join(folder, "queries.txt");
  writeFileSync(file, text);
  return readQueries(file);
}

test("comments, empty lines and repetitions say nothing, and lines may end as on Windows", async () => {
  expect(await queries("\ufeff# words\r\n\r\nfoo \r\n(?i)bar\n\nfoo \n#")).toEqual(["foo ", "(?i)bar"]);
});

test("what is no expression is refused, with its line", async () => {
  await expect(queries("foo\n# next\n(bar\n")).rejects.toThrow(/queries\.txt, line 3: missing \).*: \(bar$/);
});

test("a file without expressions, or that cannot be read, is refused", async () => {
  await expect(queries("# nothing\n")).rejects.toThrow("has no expression");
  await expect(readQueries(join(folder, "missing.txt"))).rejects.toThrow("missing.txt cannot be read");
});
