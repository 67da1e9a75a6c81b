import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import type { AuditRecord } from "./audit-entry.ts";
import { AuditLog } from "./audit-log.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "keelson-audit-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function logAt(path?: string, limits = {}, problems: string[] = []): Promise<AuditLog> {
  const log = await AuditLog.open({
    path,
    clock: new ManualClock(),
    limits,
    onProblem: (text) => problems.push(text),
  });
  ends.push(() => log.close());
  return log;
}

const entry = (who: string, outcome: AuditRecord["outcome"] = "done"): AuditRecord => ({
  who,
  from: "10.0.0.1",
  action: "fleet.drain",
  outcome,
  status: 200,
});

test("an entry is on the disk when append resolves, for its owner alone, and a restart goes on counting", async () => {
  const path = join(place(), "audit.jsonl");
  const log = await logAt(path);
  await Promise.all([log.append(entry("ann")), log.append(entry("bob", "refused"))]);
  expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(2);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await log.close();
  writeFileSync(path, `${readFileSync(path, "utf8")}{"seq":3,"at":1,"who":"cut o`);
  const again = await logAt(path);
  await again.append(entry("cat"));
  const { entries } = again.query({ limit: 10 });
  expect(entries.map(({ seq, who }) => [seq, who])).toEqual([
    [3, "cat"],
    [2, "bob"],
    [1, "ann"],
  ]);
  await again.close();
  // What was written after the line that was cut off is a line of its own.
  const third = await logAt(path);
  expect(third.query({ limit: 10 }).entries).toEqual(entries);
});

test("is asked in pages, by who, by action, or for what failed", async () => {
  const log = await logAt();
  for (let n = 0; n < 5; n++)
    await log.append(entry(n % 2 === 0 ? "ann" : "bob", n === 3 ? "failed" : "done"));
  const first = log.query({ limit: 2 });
  expect(first.entries.map(({ seq }) => seq)).toEqual([5, 4]);
  expect(log.query({ limit: 9, before: first.next }).entries.map(({ seq }) => seq)).toEqual([3, 2, 1]);
  expect(log.query({ limit: 9, who: "bob" }).entries).toHaveLength(2);
  expect(log.query({ limit: 9, failed: true }).entries.map(({ seq }) => seq)).toEqual([4]);
  expect(log.query({ limit: 9, action: "fleet.pin" }).entries).toEqual([]);
});

test("files are rotated and old ones deleted, and memory is bounded", async () => {
  const folder = place();
  const log = await logAt(join(folder, "audit.jsonl"), { fileBytesMax: 1_000, filesMax: 3, entriesMax: 20 });
  for (let n = 0; n < 100; n++) await log.append(entry(`who ${n}`));
  expect(readdirSync(folder).sort()).toEqual(["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]);
  for (const name of readdirSync(folder))
    expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(1_000);
  expect(readFileSync(join(folder, "audit.jsonl"), "utf8")).toContain("who 99");
  expect(log.query({ limit: 1_000 }).entries).toHaveLength(20);
});

test("when it cannot be written, actions are refused until it can, and what could not be written then is written now", async () => {
  const folder = place();
  const path = join(folder, "audit.jsonl");
  const problems: string[] = [];
  const log = await logAt(path, { fileBytesMax: 150, filesMax: 2 }, problems);
  await log.append(entry("ann"));
  // A folder stands where the next file should be, which stops even root.
  mkdirSync(`${path}.1`);
  writeFileSync(join(`${path}.1`, "x"), "");
  await log.append(entry("bob"));
  expect(problems).toHaveLength(1);
  const refused = await log.require().catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "AUDIT_UNAVAILABLE", status: 503 });
  rmSync(`${path}.1`, { recursive: true });
  await log.require();
  await log.append(entry("cat"));
  await log.close();
  const all = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  for (const who of ["bob", "cat"]) expect(all.join("")).toContain(`"who":"${who}"`);
});
