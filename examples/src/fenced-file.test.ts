import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StaleEpochError } from "@keelson/kernel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FencedFile } from "./fenced-file.ts";

const older = { era: 1, revision: 10 };
const newer = { era: 1, revision: 11 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-fenced-file-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("keeps what was written, for whoever opens it next", async () => {
  await new FencedFile(folder).update(older, (value) => value + 3);
  expect((await new FencedFile(folder).read()).value).toBe(3);
});

test("refuses the former holder once a new tenure has raised the epoch", async () => {
  const former = new FencedFile(folder);
  await former.update(older, (value) => value + 1);
  await new FencedFile(folder).update(newer, (value) => value);
  await expect(former.update(older, (value) => value + 1)).rejects.toThrow(StaleEpochError);
  expect((await former.read()).value).toBe(1);
});

test("loses no change of one holder, however many come at once", async () => {
  const file = new FencedFile(folder);
  await Promise.all(Array.from({ length: 30 }, () => file.update(older, (value) => value + 1)));
  expect((await file.read()).value).toBe(30);
  expect(await readdir(folder)).toHaveLength(1);
});

test("a new tenure takes over every change that was acknowledged, and none that was refused", async () => {
  const former = new FencedFile(folder);
  const adding = Array.from({ length: 40 }, () => former.update(older, (value) => value + 1));
  const outcomes = Promise.allSettled(adding);
  await adding[3];
  await new FencedFile(folder).update(newer, (value) => value);
  const codes = (await outcomes).map((outcome) =>
    outcome.status === "fulfilled" ? "ok" : (outcome.reason as { code: string }).code,
  );
  const count = (code: string): number => codes.filter((each) => each === code).length;
  expect(count("ok") + count("OUTCOME_UNKNOWN") + count("STALE_EPOCH")).toBe(40);
  expect(count("STALE_EPOCH")).toBeGreaterThan(0);
  const { value } = await former.read();
  expect(value).toBeGreaterThanOrEqual(count("ok"));
  expect(value).toBeLessThanOrEqual(count("ok") + count("OUTCOME_UNKNOWN"));
});

test("a writer that slept while versions were cleaned away does not take its late write for done", async () => {
  const sleeper = new FencedFile(folder);
  await sleeper.update(older, (value) => value + 1);
  const late = sleeper.update(older, (value) => {
    // Between its reading version 1 and writing version 2, a newer tenure came as far as version 9.
    writeFileSync(join(folder, "9"), JSON.stringify({ n: 9, epoch: newer, value: 5 }));
    rmSync(join(folder, "1"));
    return value + 100;
  });
  await expect(late).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  expect((await sleeper.read()).value).toBe(5);
});
