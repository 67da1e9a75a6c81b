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
    meta: ["team=search", "tier=a=b"],
    branch: ["dev*"],
  };
  const meant = {
    archived: true,
    fork: false,
    rank: 7,
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
});

test.each([
  [{ archived: "true" }, /--archived is yes or no, not "true"/],
  [{ rank: "-1" }, /--rank is a whole number, not -1/],
  [{ meta: ["team"] }, /--meta is field=value, not team/],
  [{}, /say what to change/],
])("%j is refused with what would be right", async (options, why) => {
  await expect(asked("set", ["r"], options)).rejects.toThrow(why);
});
