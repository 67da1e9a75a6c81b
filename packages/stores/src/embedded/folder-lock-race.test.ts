import type * as Fs from "node:fs";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { FolderLock } from "./folder-lock.ts";
import { ownIdentity } from "./process-identity.ts";

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  return { ...fs, readdirSync: vi.fn<typeof fs.readdirSync>(fs.readdirSync) };
});

const folder = mkdtempSync(join(tmpdir(), "keelson-lock-race-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a latecomer that links a number which was cleaned away sees the higher one and withdraws", () => {
  const holder = { ...ownIdentity(), since: "then", released: false };
  writeFileSync(join(folder, "keelson.lock.3"), JSON.stringify(holder));
  // What the folder looked like before others took numbers 1 to 3.
  vi.mocked(readdirSync).mockReturnValueOnce([]);
  expect(() => FolderLock.acquire(folder, { wall: () => 0 })).toThrow(/is held by pid/);
  expect(readdirSync(folder)).toEqual(["keelson.lock.3"]);
});
