import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SourceFile } from "./source.ts";
import { tidy } from "./tidy.ts";

const root = join(import.meta.dirname, "../..");

/** Everything git tracks or would track, so that a new file is checked before it is committed. */
function repositoryFiles(): SourceFile[] {
  const listing = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return listing
    .split("\0")
    .filter((path) => path !== "" && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

test("the repository is tidy", () => {
  const findings = tidy(repositoryFiles()).map(({ path, line, message }) => `${path}:${line}: ${message}`);
  expect(findings).toEqual([]);
});
