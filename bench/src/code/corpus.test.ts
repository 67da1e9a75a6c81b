import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { corpusBytes, listFiles, readWhole } from "./corpus.ts";
import { linesOfRipgrep } from "./peers.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-corpus-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => {
  mkdirSync(join(folder, "corpus/b/.hidden"), { recursive: true });
  mkdirSync(join(folder, "empty"));
  for (const name of ["corpus/b/.hidden/x", "corpus/a b.txt", "corpus/line\nbreak.txt"])
    writeFileSync(join(folder, name), "12345");
  writeFileSync(Buffer.concat([Buffer.from(join(folder, "corpus/")), Buffer.from([0x6c, 0xe9])]), "latin");
  symlinkSync("a b.txt", join(folder, "corpus/link"));
});

test("finds every file, hidden ones and those whose names are no UTF-8 too, and follows no link", async () => {
  const files = await listFiles(join(folder, "corpus"));
  expect(files.map(({ path }) => path)).toEqual(
    ["a b.txt", "b/.hidden/x", "line\nbreak.txt", "l\ufffd"].sort(),
  );
  expect(String(await readWhole(files.find(({ path }) => path === "l\ufffd")!.file))).toBe("latin");
  expect(await corpusBytes(join(folder, "corpus"))).toBe(20);
});

test("a corpus that is missing, a file, or empty is refused", async () => {
  await expect(corpusBytes(join(folder, "missing"))).rejects.toThrow("there is no such folder");
  await expect(corpusBytes(join(folder, "corpus/a b.txt"))).rejects.toThrow("is a file: name a folder");
  await expect(corpusBytes(join(folder, "empty"))).rejects.toThrow("nothing in it to search");
});

test("reads what ripgrep wrote of files whose names have line breaks", async () => {
  const output = join(folder, "output");
  const parts = ["./a", "3:x\n./line\nbreak.txt", "7:y\n./line\nbreak.txt", "9:\n./b", "1:z\n"];
  writeFileSync(output, parts.join("\0"));
  expect([...(await linesOfRipgrep(output))]).toEqual([
    ["a", [3]],
    ["line\nbreak.txt", [7, 9]],
    ["b", [1]],
  ]);
});
