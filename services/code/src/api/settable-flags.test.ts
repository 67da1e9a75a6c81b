import { expect, test } from "vitest";
import { codeVerbs } from "./verbs.ts";

async function asked(
  verb: "add" | "set",
  args: string[],
  options: Record<string, unknown>,
): Promise<unknown> {
  let body: unknown;
  await codeVerbs[verb]!.run({
    args,
    options,
    api: (_route: string, input?: { body?: unknown }) => {
      body = input?.body;
      return Promise.resolve({ repositories: [], changed: 1 });
    },
    print: { table: () => undefined, record: () => undefined },
  } as never);
  return body;
}

test("what is said of a repository when it is added, and later, reaches the catalogue", async () => {
  const said = {
    archived: "yes",
    fork: "no",
    rank: "7",
    maxBids: "3",
    meta: ["team=search", "tier=a=b"],
    branch: ["dev*"],
  };
  const meant = {
    archived: true,
    fork: false,
    rank: 7,
    maxBids: 3,
    metadata: { team: "search", tier: "a=b" },
    branches: ["dev*"],
  };
  expect(await asked("add", ["u"], { ...said, pin: true })).toEqual({
    repositories: [{ url: "u", pinned: true, ...meant }],
  });
  expect(await asked("set", ["r", "s"], { ...said, pinned: "no" })).toEqual({
    names: ["r", "s"],
    pinned: false,
    ...meant,
  });
  expect(await asked("set", ["r"], { maxBids: "none" })).toEqual({ names: ["r"], maxBids: null });
});

test.each([
  [{ archived: "true" }, /--archived is yes or no, not "true"/],
  [{ rank: "-1" }, /--rank is a whole number, not -1/],
  [{ maxBids: "0" }, /--max-bids is a whole number from 1 on, not 0/],
  [{ meta: ["team"] }, /--meta is field=value, not team/],
  [{}, /say what to change: --pinned <yes\|no>, --branch/],
])("%j is refused with what would be right", async (options, why) => {
  await expect(asked("set", ["r"], options)).rejects.toThrow(why);
});

test("a search that shows no files is refused: 0 would mean all of them", async () => {
  const call = { args: ["x"], options: { limit: "0" }, api: () => Promise.reject(new Error("asked")) };
  await expect(codeVerbs["search"]!.run(call as never)).rejects.toThrow(
    "--limit is a whole number from 1 on, not 0",
  );
});

test("status notes what is not searched of a repository that is ready, and asks for the name alone", async () => {
  const heads = [{ branch: "main", commit: "c0ffee" }];
  const index = { heads, indexedAt: 1, memoryBytes: 0, note: "2 submodules are not searched" };
  const row = { id: 1, name: "r", state: "active", replicas: [{ replica: 0, node: "a", index }] };
  const shown: unknown[] = [];
  const asked: unknown[] = [];
  await codeVerbs["status"]!.run({
    args: ["r"],
    api: (...call: unknown[]) => {
      asked.push(call);
      return Promise.resolve({ repositories: [row] });
    },
    print: { table: (rows: unknown[]) => shown.push(...rows) },
  } as never);
  expect(asked).toEqual([["status", { query: { after: 0, name: "r" } }]]);
  expect(shown).toMatchObject([{ name: "r", state: "ready", problem: "2 submodules are not searched" }]);
});

test("status says once of which repository it speaks", async () => {
  const index = { heads: [], indexedAt: 0, memoryBytes: 0, problem: { code: "X", message: "r: no folder" } };
  const row = { id: 1, name: "r", state: "active", replicas: [{ replica: 0, node: "a", index }] };
  const shown: unknown[] = [];
  await codeVerbs["status"]!.run({
    args: [],
    api: () => Promise.resolve({ repositories: [row] }),
    print: { table: (rows: unknown[]) => shown.push(...rows) },
  } as never);
  expect(shown).toMatchObject([{ name: "r", state: "failing", problem: "no folder" }]);
});
