/** Every line that a query finds, through a real gateway from real node processes: all of them, also to who reads slowly. */
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { CodeProcesses } from "./code-processes.ts";
import { eventually } from "./eventually.ts";

/** About 30 MB as it is answered, twice what a stream may keep on its way, in files that are small enough to be read. */
const FILES = 20;
const LINES_EACH = 10_000;
const LINES = FILES * LINES_EACH;
const FILLER = "that goes on with words until it is about as long as lines of code are";

interface Item {
  readonly kind: string;
  readonly Repository?: string;
  readonly Version?: string;
  readonly Lines?: readonly { readonly path: string; readonly line?: number; readonly text?: string }[];
}

let server: TestServer;
let code: CodeProcesses;

beforeAll(async () => {
  server = await startRedis();
  code = new CodeProcesses({ storeUrl: server.url, replicas: 1, ttlMs: 3_000, memoryMb: 256 });
  await code.start(2);
  const url = code.generate("large", 2);
  for (let part = 0; part < FILES; part += 1) {
    const lines = Array.from({ length: LINES_EACH }, (_, i) => `needle ${part} ${i} ${FILLER}\n`);
    code.push("large", `part${part}.txt`, lines.join(""));
  }
  await code.add([
    { name: "large", url },
    { name: "small", url: code.generate("small", 3) },
    { name: "nowhere", url: `${code.folder}/nowhere` },
  ]);
  await eventually(
    "both answer",
    async () => {
      const large = await code.search("r:large needle.0.7");
      const small = await code.search("r:small common_needle");
      return large.FileCount === 1 && small.FileCount === 3;
    },
    60_000,
  );
}, 180_000);
afterAll(async () => {
  await stopAll();
  code.remove();
  await server.stop();
});

const ask = (body: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(`${code.url}/v1/code/lines`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

async function items(answer: Response, pauses: readonly number[] = []): Promise<Item[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body! as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    await sleep(pauses[pieces.length - 1] ?? 0);
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Item);
}

test.each([
  ["fast", []],
  ["slowly", [2_500, 0, 2_500]],
])(
  "who reads %s gets every line once, at one commit, with counts that agree, and hears who did not answer",
  async (_, pauses) => {
    const all = await items(await ask({ query: "needle" }), pauses);
    const lines = all.filter(({ kind }) => kind === "lines");
    const large = lines.filter(({ Repository }) => Repository === "large");
    const found = large.flatMap(({ Lines = [] }) =>
      Lines.map(({ path, line, text }) => `${path}:${line}:${text}`),
    );
    const wanted = new Set<string>();
    for (let part = 0; part < FILES; part += 1)
      for (let i = 0; i < LINES_EACH; i += 1)
        wanted.add(`part${part}.txt:${i + 1}:needle ${part} ${i} ${FILLER}`);
    const whole = found.filter((line) => line.startsWith("part"));
    expect(whole).toHaveLength(LINES);
    expect(whole.filter((line) => !wanted.has(line))).toEqual([]);
    expect(new Set(whole).size).toBe(LINES);
    expect(new Set(large.map(({ Version }) => Version)).size).toBe(1);
    expect(all[0]).toMatchObject({ kind: "begin", Asked: 3, Problem: "" });
    expect(all.find(({ kind }) => kind === "missing")).toMatchObject({
      Repository: "nowhere",
      Code: "REPOSITORY_UNAVAILABLE",
    });
    const shown = lines.reduce((sum, { Lines = [] }) => sum + Lines.length, 0);
    expect(all.at(-1)).toMatchObject({
      kind: "end",
      LineCount: shown,
      Answered: 2,
      Missing: 1,
      Partial: true,
    });
  },
  60_000,
);

test("readers that leave, however many, keep nobody else waiting", async () => {
  for (let i = 0; i < 8; i += 1) {
    const leaving = new AbortController();
    const answer = await ask({ query: "needle" }, leaving.signal);
    await answer.body!.getReader().read();
    leaving.abort();
  }
  const all = await items(await ask({ query: "r:small common_needle" }));
  expect(all.at(-1)).toMatchObject({ kind: "end", FileCount: 3, Answered: 1, Partial: false });
  expect((await code.search("r:small common_needle")).FileCount).toBe(3);
});

test("two readers that take nothing keep the third waiting for no longer than it wants to", async () => {
  const leaving = new AbortController();
  await Promise.all([0, 1].map(() => ask({ query: "r:large needle" }, leaving.signal)));
  const third = await items(await ask({ query: "r:large needle", wallMs: 1_500 }));
  expect(third.find(({ kind }) => kind === "repository")).toMatchObject({
    Repository: "large",
    FileCount: 0,
    Partial: "time-cap",
  });
  leaving.abort();
  const next = await items(await ask({ query: "r:large needle.7.77" }));
  expect(next.at(-1)).toMatchObject({ kind: "end", Partial: false });
});

test("what is no query is refused with the place, and what takes too long says so", async () => {
  const refused = await ask({ query: "abc case:foo" });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringMatching(/BAD_QUERY.*character 10/),
  ]);
  expect((await ask({ query: "x", limit: 3 })).status).toBe(400);
  expect((await ask({ query: "" })).status).toBe(400);
  const large = await items(await ask({ query: "\\pL{1000}" }));
  expect(large.at(-1)).toMatchObject({ error: { code: "BAD_REQUEST", status: 400 } });
  const short = await items(await ask({ query: "r:large needle", wallMs: 1 }));
  expect(short.find(({ kind }) => kind === "repository")).toMatchObject({ Partial: "time-cap" });
  expect(short.at(-1)).toMatchObject({ kind: "end", Partial: true });
});

test("the command prints them as they come, and says where no gateway is", async () => {
  const found = new KeelsonProcess(["code", "search", "--all", "r:small common_needle", "--url", code.url]);
  await found.endsWith(0);
  expect(found.all).toMatch(/^small@[0-9a-f]{12}:\S+:\d+: .*common_needle/m);
  expect(found.all).toMatch(/^\d+ lines with \d+ matches in 3 files$/m);
  const lost = new KeelsonProcess(["code", "search", "--all", "x", "--url", "http://127.0.0.1:9"]);
  await lost.endsWith(1);
  expect(lost.all).toMatch(/^keelson: no gateway at http:\/\/127\.0\.0\.1:9/);
});
