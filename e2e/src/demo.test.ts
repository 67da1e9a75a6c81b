import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "./process/keelson-process.ts";

// In memory where there is such a folder: the demo counts every request that takes more than a second, and a busy disk can sync for longer than that.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "keelson-e2e-demo-"));
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

test(
  "the demo ends by itself, with every promise kept, and leaves nothing behind",
  { timeout: 60_000 },
  async () => {
    const demo = new KeelsonProcess(["demo"], { TMPDIR: folder });
    await demo.endsWith(0);
    const summary = demo.stdout.slice(-5);
    expect(summary.filter((line) => !line.startsWith("  ok  "))).toEqual([]);
    expect(summary[2]).toMatch(/c was drained: it handed over \d+ shards in .*; no request failed/);
    expect(demo.all).not.toContain("\u001B");
    expect(demo.stderr).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  },
);
