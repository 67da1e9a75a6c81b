import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkHistory } from "./history.ts";
import { Recorder } from "./recorder.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keelson-history-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

function recorder(process: string): Recorder {
  return new Recorder(join(folder, `${process}.jsonl`));
}

test("reads what all processes wrote down, and puts it together", async () => {
  const [a, b, resource] = [recorder("a-1"), recorder("b-2"), recorder("resource")];
  a.write(["admitted", "0", 1, 5, 10]);
  a.write(["passing", [["0", 1, 5, 40]]]);
  b.write(["admitted", "0", 1, 7, 30]);
  resource.write(["raised", "0", 1, 7]);
  resource.write(["refused", "0", 1, 5]);
  resource.write(["wrote", "0", 1, 7, 1]);
  const { violations, ...counts } = await checkHistory(folder);
  expect(counts).toEqual({ admissions: 2, tenures: 2, writesAccepted: 1, writesRefused: 1 });
  expect(violations.map(({ what }) => what)).toEqual([
    expect.stringContaining("a-1 under 1.5 and b-2 under 1.7"),
  ]);
});

test("leaves out a last line that SIGKILL tore, and refuses a damaged line before it", async () => {
  recorder("a-1").write(["admitted", "0", 1, 5, 10]);
  appendFileSync(join(folder, "a-1.jsonl"), '["admitted","0",1,');
  expect((await checkHistory(folder)).admissions).toBe(1);
  appendFileSync(join(folder, "a-1.jsonl"), '\n["admitted","0",1,5,20]\n');
  await expect(checkHistory(folder)).rejects.toThrow(/a-1\.jsonl has a damaged line/);
});
