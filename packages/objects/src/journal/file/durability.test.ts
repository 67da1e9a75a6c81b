import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleProgram } from "../../fixtures/bundle.ts";
import { straceProgram, type SystemCall } from "../../fixtures/strace.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const RECORDS = 400;
let calls: SystemCall[] = [];
const named = (name: RegExp, args: RegExp): SystemCall[] =>
  calls.filter((call) => name.test(call.name) && args.test(call.args));

beforeAll(async () => {
  const program = await bundleProgram("journal-program.ts", root);
  calls = await straceProgram(program, [join(root, "objects"), "1", "1", `${RECORDS}`], join(root, "trace"));
}, 60_000);

const SEGMENT = /\/segment-\d+-\d+>/;

test("a record is written, synced, and looked for fences after, before it is acknowledged", () => {
  const acknowledged = named(/^write$/, /^1<.*"1 s0 \d+\\n"/);
  expect(acknowledged).toHaveLength(RECORDS);
  const writes = named(/^pwritev/, SEGMENT);
  // One record at a time: the nth acknowledgement is for the nth batch.
  expect(writes).toHaveLength(RECORDS);
  const syncs = named(/^fdatasync$/, SEGMENT);
  const looks = named(/access|statx/, /\/fence-\d+"/);
  for (const [n, write] of writes.entries()) {
    const sync = syncs.find(({ beganAt }) => beganAt > write.endedAt)!;
    const look = looks.find(({ beganAt }) => beganAt > sync.endedAt)!;
    expect(look.endedAt).toBeLessThan(acknowledged[n]!.beganAt);
    expect(look.failed).toBe(true);
  }
});

test("a file has its header and its name on disk before its first batch", () => {
  const opened = named(/^openat$/, /\/segment-\d+-\d+", .*O_CREAT/);
  expect(opened.length).toBeGreaterThan(1);
  for (const { args, endedAt } of opened) {
    const path = /"([^"]+)"/.exec(args)![1]!;
    const own = (name: RegExp) => named(name, new RegExp(`<${path}>`));
    const batch = own(/^pwritev/)[0]!;
    const header = own(/^pwrite64$/)[0]!;
    const synced = own(/^fdatasync$/).find(({ beganAt }) => beganAt > header.endedAt)!;
    const folder = named(/^fsync$/, /\.journal>/).find(
      ({ beganAt }) => beganAt > Math.max(endedAt, header.endedAt),
    )!;
    expect(Math.max(synced.endedAt, folder.endedAt)).toBeLessThan(batch.beganAt);
  }
});

test("one sync per batch, and no more than that but for new files and zeros written ahead", () => {
  const batches = named(/^pwritev/, SEGMENT).length;
  const files = named(/^openat$/, /\/segment-\d+-\d+", .*O_CREAT/).length;
  const headers = named(/^pwrite64$/, /\/segment-\d+-\d+>.*, 0$/).length;
  const zeros = named(/^pwrite64$/, SEGMENT).length - headers;
  expect(headers).toBe(files);
  expect(zeros).toBeGreaterThan(0);
  expect(named(/^fdatasync$/, SEGMENT).length).toBe(batches + files + zeros);
});

test("fence, cut and file are made in this order, each durable before the next", () => {
  const naming = named(/^link/, /\/(?:fence|cut)-\d+"/);
  expect(naming.map(({ args }) => /\/(fence|cut)-/.exec(args)?.[1])).toEqual(["fence", "cut"]);
  const [fence, cut] = naming;
  const segment = named(/^openat$/, /\/segment-\d+-\d+", .*O_CREAT/)[0]!;
  const folder = named(/^fsync$/, /\.journal>/);
  const between = (after: SystemCall, before: SystemCall): boolean =>
    folder.some(({ beganAt, endedAt }) => beganAt > after.endedAt && endedAt < before.beganAt);
  expect([between(fence!, cut!), between(cut!, segment)]).toEqual([true, true]);
});
