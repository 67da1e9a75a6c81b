import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { serveMcp } from "./mcp.ts";

interface Asked {
  readonly route: string;
  readonly input: unknown;
}

/** Sends calls to a server whose API answers as told, and gives back what it wrote. */
async function talk(
  calls: readonly unknown[],
  answer: (asked: Asked) => unknown = () => ({}),
): Promise<{ answers: Record<string, unknown>[]; asked: Asked[] }> {
  const input = new PassThrough();
  const output = new PassThrough();
  const asked: Asked[] = [];
  const served = serveMcp({
    input,
    output,
    signal: new AbortController().signal,
    api: (route, given) => {
      asked.push({ route, input: given });
      return Promise.resolve().then(() => answer({ route, input: given }));
    },
  });
  for (const call of calls) input.write(`${typeof call === "string" ? call : JSON.stringify(call)}\n`);
  input.end();
  await served;
  const text = String(output.read() ?? "");
  return {
    asked,
    answers: text
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const call = (name: string, args: unknown, id = 1): unknown => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

const textOf = (answer: Record<string, unknown> | undefined): string =>
  (answer as { result: { content: { text: string }[] } }).result.content[0]!.text;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("introduces itself and its tools", async () => {
  const { answers } = await talk([
    { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-03-26" } },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    { jsonrpc: "2.0", id: 2, method: "nonsense" },
    "not json",
  ]);
  expect(answers).toHaveLength(4);
  expect(answers[0]).toMatchObject({ jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-03-26" } });
  const { tools } = (answers[1] as { result: { tools: { name: string }[] } }).result;
  expect(tools.map(({ name }) => name)).toEqual(["search_code", "read_file", "list_repositories"]);
  expect(answers[2]).toMatchObject({ id: 2, error: { code: -32_601 } });
  expect(answers[3]).toMatchObject({ id: null, error: { code: -32_700 } });
});

test("searches text as text, tells exact counts and the commit, and says what is missing", async () => {
  const Result = {
    MatchCount: 7,
    FileCount: 3,
    Files: [
      {
        Repository: "r",
        FileName: "a.go",
        Version: "0123456789abcdef",
        LineMatches: [
          { LineNumber: 5, Line: base64('x.y("z")'), Before: base64("four\n"), After: null, FileName: false },
        ],
      },
    ],
    Missing: [{ Repository: "s", Why: "nobody holds it" }],
    Limits: [],
  };
  const args = {
    pattern: 'x.y("z")',
    repo: "a.b",
    file: "c d",
    lang: "go",
    case_sensitive: true,
    max_results: 9_999,
  };
  const { answers, asked } = await talk([call("search_code", args)], () => ({ Result }));
  expect(asked[0]).toMatchObject({
    route: "search",
    input: {
      body: {
        Q: String.raw`"x\\.y\\(\"z\"\\)" repo:"a\\.b" file:"c d" lang:"go" case:yes`,
        Opts: { MaxDocDisplayCount: 200, MaxMatchDisplayCount: 200 },
      },
    },
  });
  expect(textOf(answers[0])).toBe(
    '7 matches in 3 files\nPARTIAL: s did not answer: nobody holds it\nThe best 1 are shown, of 1 files: narrow with repo, file or lang, or ask for more with max_results (200 at most)\n\nr a.go (commit 0123456789ab)\n4- four\n5: x.y("z")',
  );
});

test("lines are counted, those of a match over three like others, and those with several matches once", async () => {
  const line = (LineNumber: number) => ({
    LineNumber,
    Line: base64("x\n"),
    Before: null,
    After: null,
    FileName: false,
    LineFragments: LineNumber === 3 ? [{}, {}, {}] : [{}],
  });
  const file = { Repository: "r", FileName: "a.go", Version: "0123", LineMatches: [1, 2, 3].map(line) };
  const Result = { MatchCount: 5, FileCount: 1, Files: [file], Missing: [], Limits: [] };
  const args = { pattern: "x", max_results: 1 };
  const { answers } = await talk([call("search_code", args)], () => ({ Result }));
  expect(textOf(answers[0])).toContain("5 matches in 1 files\nThe best 3 are shown, of 1 files");
});

test("reads some lines of a file, at its commit", async () => {
  const { answers } = await talk(
    [call("read_file", { repo: "r", path: "p", start_line: 2, end_line: 3 })],
    () => ({
      Version: "0123456789abcdef",
      Content: base64("one\ntwo\nthree\nfour"),
    }),
  );
  expect(textOf(answers[0])).toBe("r p (commit 0123456789ab), lines 2 to 3 of 4\n2: two\n3: three");
});

test("a file without text, or with fewer lines, says so", async () => {
  const file = { Version: "0123456789abcdef", Content: base64("one\n"), Skipped: "" };
  const reading = { repo: "r", path: "p\nq" };
  const { answers } = await talk([call("read_file", { ...reading, start_line: 5 })], () => file);
  expect(textOf(answers[0])).toMatch(/^r p\\u\{a\}q \(commit 0123456789ab\) has 1 lines, and none from 5/);
  const skipped = await talk([call("read_file", reading)], () => ({ ...file, Skipped: "too-large" }));
  expect(textOf(skipped.answers[0])).toMatch(/has no text here: too-large/);
});

test("lines are numbered rightly beside empty ones, and where a match goes on over several", async () => {
  const LineMatches = [
    {
      LineNumber: 4,
      Line: base64("a\nb\n"),
      Before: base64("two\n\n"),
      After: base64("\nseven"),
      FileName: false,
    },
  ];
  const Files = [{ Repository: "r", FileName: "f", Version: "0123456789abcdef", LineMatches }];
  const { answers } = await talk([call("search_code", { pattern: "x" })], () => ({
    Result: { MatchCount: 1, FileCount: 1, Files, Missing: [], Limits: [] },
  }));
  expect(textOf(answers[0]).split("\n").slice(3)).toEqual([
    "2- two",
    "3- ",
    "4: a",
    "5: b",
    "6- ",
    "7- seven",
  ]);
});

test.each([
  "null",
  "7",
  "[]",
  '{"id":1}',
  '{"id":1,"method":"tools/call","params":null}',
  '{"id":1,"method":7}',
])("%s is answered with an error, and the next call all the same", async (line) => {
  const { answers } = await talk([line, { jsonrpc: "2.0", id: 2, method: "ping" }]);
  expect(answers).toHaveLength(2);
  expect(JSON.stringify(answers[0])).toMatch(/error/i);
  expect(answers[1]).toMatchObject({ id: 2, result: {} });
});

test("an answer is never longer than an agent can use", async () => {
  const { answers } = await talk([call("read_file", { repo: "r", path: "p" })], () => ({
    Version: "",
    Content: base64("x".repeat(100_000)),
  }));
  expect(textOf(answers[0]).length).toBeLessThan(25_000);
  expect(textOf(answers[0])).toMatch(/cut at 24000 characters/);
});

test("what fails is told as the tool's failure, and the next call is answered", async () => {
  const { answers } = await talk(
    [call("search_code", {}), call("nothing", {}, 2), call("list_repositories", {}, 3)],
    () => ({
      List: {
        Repos: [
          {
            Repository: { Name: "r", Branches: [{ Name: "main", Version: "0123456789abcdef" }] },
            Problem: "",
          },
        ],
      },
    }),
  );
  expect(answers.map((answer) => (answer as { result: { isError?: boolean } }).result.isError)).toEqual([
    true,
    true,
    undefined,
  ]);
  expect(textOf(answers[2])).toBe("1 repositories\nr main@0123456789ab");
});

const nothing = { MatchCount: 0, FileCount: 0, ShardsScanned: 3, Files: [], Missing: [], Limits: [] };

test("says what may be the reason when there is nothing", async () => {
  const said = async (args: unknown, change: object = {}): Promise<string> =>
    textOf(
      (await talk([call("search_code", args)], () => ({ Result: { ...nothing, ...change } }))).answers[0],
    );
  expect(await said({ pattern: "x" })).toBe("0 matches in 0 files");
  expect(await said({ pattern: "x", repo: "nosuch" }, { ShardsScanned: 0 })).toMatch(
    /No repository has such a name: list_repositories/,
  );
  expect(await said({ pattern: "x", lang: "golangg", symbol: true })).toMatch(
    /try again without lang or symbol$/,
  );
});

test.each([
  ["search_code", { pattern: "x", regexp: true }, /no argument regexp: it takes pattern, regex/],
  ["search_code", { pattern: 7 }, /pattern is a string, not 7/],
  ["search_code", { pattern: "x", regex: "yes" }, /regex is a boolean, not "yes"/],
  ["search_code", { pattern: "x", context: "two" }, /context is a whole number, not "two"/],
  ["read_file", { repo: "r" }, /repo and path are needed/],
  ["grep", {}, /no tool grep: use search_code, read_file, list_repositories/],
])("%s with %j says what is wrong with it", async (name, args, why) => {
  const { answers, asked } = await talk([call(name, args)]);
  expect((answers[0] as { result: { isError: boolean } }).result.isError).toBe(true);
  expect(textOf(answers[0])).toMatch(why);
  expect(asked).toEqual([]);
});

test("takes numbers and truth that are written as text, and null for what is left out", async () => {
  const args = { pattern: "a.b", regex: "true", max_results: "5", lang: null, branch: "dev" };
  const { asked } = await talk([call("search_code", args)], () => ({ Result: nothing }));
  expect(asked[0]).toMatchObject({
    input: { body: { Q: '"a.b" branch:"dev"', Opts: { MaxDocDisplayCount: 5, NumContextLines: 0 } } },
  });
});

test("a line is shown once, whichever matches it is around, from the top of the file", async () => {
  const at = (LineNumber: number, Before: string, After: string): object => ({
    LineNumber,
    Line: base64(`line ${LineNumber}\n`),
    Before: base64(Before),
    After: base64(After),
    FileName: false,
    LineFragments: [{}],
  });
  const LineMatches = [
    at(5, "line 4\n", "line 6\n"),
    at(2, "line 1\n", "line 3\n"),
    at(4, "line 3\n", "line 5\n"),
  ];
  const Files = [{ Repository: "r", FileName: "f", Version: "0123456789abcdef", LineMatches }];
  const { answers } = await talk([call("search_code", { pattern: "x" })], () => ({
    Result: { ...nothing, MatchCount: 3, FileCount: 1, Files },
  }));
  expect(textOf(answers[0]).split("\n").slice(3)).toEqual([
    "1- line 1",
    "2: line 2",
    "3- line 3",
    "4: line 4",
    "5: line 5",
    "6- line 6",
  ]);
});

test("works on several calls at once, and answers them in order", async () => {
  let under = 0;
  let most = 0;
  const { answers } = await talk(
    Array.from({ length: 20 }, (_, id) => call("search_code", { pattern: String(id) }, id)),
    async () => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
      under -= 1;
      return { Result: nothing };
    },
  );
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, id) => id));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(8);
});

test("shows two hundred repositories at most, and says how many there are", async () => {
  const Repos = Array.from({ length: 250 }, (_, i) => ({
    Repository: { Name: `r${i}`, Branches: null },
    Problem: "",
  }));
  const { answers } = await talk([call("list_repositories", {})], () => ({ List: { Repos } }));
  const lines = textOf(answers[0]).split("\n");
  expect(lines.slice(0, 2)).toEqual(["250 repositories", "The first 200 are shown: give a part of the name"]);
  expect(lines).toHaveLength(202);
});

test("a request that is too long is answered by its number", async () => {
  const { answers, asked } = await talk([call("search_code", { pattern: "x".repeat(10_000_000) }, 7)]);
  expect(answers).toMatchObject([{ id: 7, error: { code: -32_600 } }]);
  expect(JSON.stringify(answers)).toContain("1048576 are allowed: ask for less");
  expect(asked).toEqual([]);
});

test("what servers said is one line, and moves no cursor", async () => {
  const { answers } = await talk(
    [call("list_repositories", {}), call("search_code", { pattern: "a" }, 2)],
    () => ({
      List: { Repos: [{ Repository: { Name: "a", Branches: null }, Problem: "b\u001b[2J\nc" }] },
      Result: {
        MatchCount: 0,
        FileCount: 0,
        Files: [],
        Missing: [{ Repository: "a", Why: "b\u001b[2J\nc" }],
        Limits: [{ Repository: "a", Why: "b\u001b[2J\nc" }],
      },
    }),
  );
  for (const answer of answers) expect(textOf(answer)).toContain(String.raw`b\u{1b}[2J\u{a}c`);
});

test("a batch is answered as a batch, without its notifications, and one that is none is refused", async () => {
  const { answers } = await talk([
    [
      { jsonrpc: "2.0", id: 3, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: "four", method: "nonsense" },
      7,
    ],
    [{ jsonrpc: "2.0", method: "notifications/initialized" }],
    [],
    Array.from({ length: 65 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })),
    { jsonrpc: "2.0", id: 5, method: "ping" },
  ]);
  expect(answers).toMatchObject([
    [
      { jsonrpc: "2.0", id: 3, result: {} },
      { jsonrpc: "2.0", id: "four", error: { code: -32_601 } },
      { jsonrpc: "2.0", id: null, error: { code: -32_600 } },
    ],
    { id: null, error: { code: -32_600 } },
    { id: null, error: { code: -32_600 } },
    { id: 5, result: {} },
  ]);
});
