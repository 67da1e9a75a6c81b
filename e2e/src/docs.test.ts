/** Documents and code say the same, both ways. A difference names the document and what is missing in which of the two. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServiceDefinition } from "@keelson/runtime";
import { parseStoreUrl } from "@keelson/stores/url";
import { TestFleet } from "@keelson/testkit";
import { SETTINGS, keelson, variableOf, type Setting } from "keelson";
import { parseObjectsUrl } from "@keelson/objects";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = await keelson();

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The sections of a document by their `## ` heading; what stands before the first is under "". */
function sections(path: string): Map<string, string> {
  const [first = "", ...rest] = read(path).split(/^## /m);
  return new Map([["", first], ...rest.map((part): [string, string] => [part.split("\n")[0] ?? "", part])]);
}

/** What stands in backquotes in the given column of a section's tables. */
function column(section: string | undefined, n = 0): string[] {
  const rows = (section ?? "").split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => /`([^`]+)`/.exec(row.split(" | ")[n] ?? "")?.[1] ?? "");
}

/** The names of all markdown files that are ours. */
function documents(): string[] {
  const found = ["README.md", "CONTRIBUTING.md", "examples/README.md"];
  for (const entry of readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }))
    if (entry.endsWith(".md")) found.push(join("docs", entry));
  return found;
}

function flagsOf(command: Awaited<ReturnType<typeof keelson>>): string[] {
  return command.options.map((option) => option.flags);
}

test("cli.md lists every command and every flag, and no others", () => {
  const parts = sections("docs/reference/cli.md");
  expect(column(parts.get(""))).toEqual(flagsOf(program));
  const headings = [...parts.keys()].filter((name) => name.startsWith("keelson ")).sort();
  const commands = program.commands.filter((command) => command.helpGroup() !== "Services:");
  expect(headings).toEqual(commands.map((command) => `keelson ${command.name()}`).sort());
  // Said once for all verbs that have them.
  const shared = column(parts.get("How verbs reach a fleet"));
  for (const command of commands) {
    const flags = flagsOf(command);
    const isVerb = shared.every((flag) => flags.includes(flag));
    const own = isVerb ? flags.filter((flag) => !shared.includes(flag)) : flags;
    expect([command.name(), ...column(parts.get(`keelson ${command.name()}`))]).toEqual([
      command.name(),
      ...own,
    ]);
  }
});

const COMMANDS: readonly (readonly [string, Readonly<Record<string, Setting>>])[] = Object.entries(SETTINGS);

test.each(COMMANDS)(
  "config.md lists every setting of %s with its variable, and no others",
  (name, settings) => {
    const section = sections("docs/reference/config.md").get(`keelson ${name}`);
    expect(column(section)).toEqual(Object.keys(settings));
    expect(column(section, 1)).toEqual(Object.keys(settings).map(variableOf));
  },
);

/** Defaults that are said in words, or with a unit; the others are printed as they are. */
const DEFAULTS: Readonly<Record<string, readonly [unknown, string]>> = {
  ttl: [10_000, "10s"],
  address: [undefined, "where it listens"],
};

test.each(COMMANDS)("config.md says the default of every setting of %s", (command, settings) => {
  const rows = sections("docs/reference/config.md").get(`keelson ${command}`)?.split("\n") ?? [];
  for (const [name, { schema }] of Object.entries(settings)) {
    const row = rows.find((line) => line.startsWith(`| \`${name}\``)) ?? "";
    const said = row.split(" | ")[2]?.replaceAll("`", "");
    const { success, data } = schema.safeParse(undefined);
    const [value, text] = DEFAULTS[name] ?? [
      data,
      success ? JSON.stringify(data ?? "none").replaceAll(/["[\]]/g, "") : "required",
    ];
    expect({ name, data, said }).toEqual({ name, data: value, said: text });
  }
});

test("config.md lists every form of a store's address, and no others", () => {
  let message = "";
  try {
    parseStoreUrl("");
  } catch (error) {
    message = String(error);
  }
  const forms = (/write (.*)$/.exec(message)?.[1] ?? "").split(/, (?!<)| or /);
  expect(column(sections("docs/reference/config.md").get("Stores"))).toEqual(forms);
});

test("config.md lists every form of an address of objects, and no others", () => {
  let message = "";
  try {
    parseObjectsUrl("", {});
  } catch (error) {
    message = String(error);
  }
  const forms = (/write (.*)$/.exec(message)?.[1] ?? "").split(/, | or /);
  expect(column(sections("docs/reference/config.md").get("Objects")).sort()).toEqual(forms.sort());
});

/** The codes of every exported `…ErrorCode` and `…FailureCode`, by the name of the class they belong to. */
function codesInCode(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of readdirSync(join(root, "packages"), { recursive: true, encoding: "utf8" })) {
    if (!/\/src\/.*\.ts$/.test(file) || /\.test\.ts$|node_modules/.test(file)) continue;
    // A comment may hold a semicolon, or a code in quotes.
    const text = read(join("packages", file)).replaceAll(/\/\*\*.*?\*\//gs, "");
    for (const { groups } of text.matchAll(
      /^export type (?<name>\w+(?:Error|Failure))Code =(?<union>[^;]*);/gm,
    )) {
      const list = /typeof (?<list>\w+)/.exec(groups?.["union"] ?? "")?.groups?.["list"];
      const source =
        list === undefined ? groups?.["union"] : new RegExp(`${list} = \\[([^\\]]*)\\]`).exec(text)?.[1];
      found.set(
        groups?.["name"] ?? "",
        [...(source ?? "").matchAll(/^\s*\|? ?"(\w+)"/gm)].map((match) => match[1] ?? ""),
      );
    }
  }
  return found;
}

test("errors.md lists every error code of every class, and no others", () => {
  const parts = sections("docs/reference/errors.md");
  const code = codesInCode();
  expect([...code.keys()]).toEqual(
    expect.arrayContaining(["KeelsonError", "StoreError", "TransportError", "RouterError", "WireFailure"]),
  );
  const listed = [...parts.keys()].filter((name) => /^\w+(?:Error|Failure)$/.test(name));
  expect(listed.sort()).toEqual([...code.keys()].sort());
  for (const [name, codes] of code)
    expect([name, ...column(parts.get(name)).sort()]).toEqual([name, ...codes.sort()]);
});

test("every command line in a document can be typed as it stands", async () => {
  let seen = 0;
  for (const path of documents().filter((name) => !name.startsWith("docs/design/"))) {
    for (const [, line = ""] of read(path).matchAll(/^(?:npm run keelson --|keelson) ([a-z]+ .*)$/gm)) {
      const [name = "", ...words] = line.split(" ");
      const command = (await keelson(name)).commands.find((each) => each.name() === name);
      // Of a service, the verb.
      const verb = command?.commands.find((each) => each.name() === words[0]);
      const known = [command, verb].flatMap((each) => each?.options.map((option) => option.long) ?? []);
      const flags = words.filter((word) => word.startsWith("--"));
      expect({ path, line, unknown: flags.filter((flag) => !known.includes(flag)) }).toEqual({
        path,
        line,
        unknown: [],
      });
      seen++;
    }
  }
  expect(seen).toBeGreaterThan(5);
});

test("every link between documents leads somewhere", () => {
  const dead = documents().flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].flatMap(([, target = ""]) => {
      try {
        readdirSync(join(root, path, "..", target));
        return [];
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === "ENOTDIR" ? [] : [`${path}: ${target}`];
      }
    }),
  );
  expect(dead).toEqual([]);
});

test("the README's service works as it is printed", async ({ onTestFinished }) => {
  const source = /```ts\n([\s\S]*?)```/.exec(read("README.md"))?.[1] ?? "";
  // Inside the repository, so that it finds our packages as a user's module finds them.
  mkdirSync(join(root, "e2e/dist"), { recursive: true });
  const folder = mkdtempSync(join(root, "e2e/dist/readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "service.ts");
  writeFileSync(file, source);
  const { default: service } = (await import(file)) as { default: ServiceDefinition };
  const fleet = await TestFleet.start({ services: [service], nodes: 1 });
  onTestFinished(() => fleet.stop());
  const request = {
    service: service.name,
    shard: "3",
    replica: 0,
    method: "greet",
    mode: "read",
    body: "you",
    timeoutMs: 1_000,
  } as const;
  expect(await fleet.call("a", request)).toMatchObject({ kind: "ok", body: "shard 3 says hello to you" });
});
