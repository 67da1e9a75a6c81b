import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { endFirstRun, isFirstRun, markFirstRun } from "./first-mark.ts";

test("a folder is new until somebody was offered something, and never again", () => {
  const data = mkdtempSync(join(tmpdir(), "keelson-mark-"));
  try {
    expect(isFirstRun(data)).toBe(false);
    markFirstRun(data);
    expect(isFirstRun(data)).toBe(true);
    endFirstRun(data);
    endFirstRun(data);
    expect(isFirstRun(data)).toBe(false);
  } finally {
    rmSync(data, { recursive: true });
  }
});
