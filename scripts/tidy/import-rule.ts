// Who may import whom, as the design states it. The linter says part of this while you type; this says all of it.

import { posix } from "node:path";
import { importsOf } from "./imports.ts";
import { isCode, isTest, type Finding, type SourceFile } from "./source.ts";

const anything = /./;
/** What any test may import besides. */
const TESTS_MAY: ReadonlySet<string> = new Set(["testkit", "examples"]);

/** What the sources of each workspace may import of ours, by the name after `@keelson/`. */
const allowed: readonly { readonly workspace: RegExp; readonly may: RegExp; readonly said: string }[] = [
  { workspace: /^packages\/kernel$/, may: /^$/, said: "nothing of ours" },
  { workspace: /^packages\/(?:wire|objects)$/, may: /^kernel$/, said: "kernel" },
  { workspace: /^packages\/stores$/, may: /^(?:kernel|wire)$/, said: "kernel and wire" },
  {
    workspace: /^packages\/runtime$/,
    may: /^(?:kernel|wire|objects)$/,
    said: "kernel and wire, and types from objects",
  },
  {
    workspace: /^packages\/testkit$/,
    may: /^(?:kernel|runtime|stores\/memory)$/,
    said: "kernel, runtime and stores/memory",
  },
  {
    workspace: /^services\/[^/]+$/,
    may: /^(?:kernel|runtime|objects)$/,
    said: "runtime, objects and kernel's types; never a store, never another service",
  },
  {
    workspace: /^apps\/gateway$/,
    may: /^(?:runtime|(?:code|content|logs|jobs|vectors)\/api)$/,
    said: "runtime and the services' api",
  },
  { workspace: /^apps\/console$/, may: /^$/, said: "nothing of ours" },
  { workspace: /^apps\/cli$/, may: anything, said: "anything" },
  {
    workspace: /^simulator$/,
    may: /^(?:testkit|runtime|kernel|stores\/(?:memory|core)|(?:code|content|logs|jobs|vectors)(?:\/sim)?)$/,
    said: "testkit, runtime, kernel, stores/memory, stores/core and services",
  },
  { workspace: /^examples$/, may: /^(?:runtime|kernel|testkit)$/, said: "runtime, kernel and testkit" },
  { workspace: /^(?:bench|e2e)$/, may: anything, said: "anything" },
  { workspace: /^scripts$/, may: /^$/, said: "nothing of ours" },
];

export function checkImports(file: SourceFile): Finding[] {
  const workspace = workspaceOf(file.path);
  if (workspace === undefined || !isCode(file.path)) return [];
  const rule = allowed.find((each) => each.workspace.test(workspace));
  if (rule === undefined) {
    return [
      {
        path: file.path,
        line: 1,
        message: `no import rule for ${workspace}: add one to scripts/tidy/import-rule.ts`,
      },
    ];
  }
  const own = workspace.slice(workspace.lastIndexOf("/") + 1);
  const test = isTest(file.path);
  const findings: Finding[] = [];
  for (const { specifier, line, typeOnly } of importsOf(file)) {
    const say = (message: string): void => void findings.push({ path: file.path, line, message });
    if (specifier.startsWith(".")) {
      const target = posix.join(posix.dirname(file.path), specifier);
      if (!target.startsWith(`${workspace}/`))
        say(`"${specifier}" leaves ${workspace}: import the other package by its name`);
      continue;
    }
    const name =
      specifier === "keelson" ? "cli" : /^@keelson\/(?<name>.+)$/.exec(specifier)?.groups?.["name"];
    if (name === undefined) {
      if (workspace === "packages/kernel" && !test)
        say(`kernel may not import "${specifier}": pass what it gives as an argument`);
      continue;
    }
    if (name === own || name.startsWith(`${own}/`)) continue;
    if (test && TESTS_MAY.has(name.split("/")[0] ?? "")) continue;
    if (!rule.may.test(name)) say(`${workspace} may not import "${specifier}": it may import ${rule.said}`);
    else if (workspace === "packages/runtime" && name === "objects" && !typeOnly)
      say(`runtime takes only types from objects: write "import type"`);
    else if (workspace.startsWith("services/") && name === "kernel" && !typeOnly && !test) {
      say(
        `a service takes only types from the kernel: write "import type", and take behaviour from @keelson/runtime`,
      );
    }
  }
  return findings;
}

function workspaceOf(path: string): string | undefined {
  return /^(?:(?:packages|services|apps)\/[^/]+|simulator|examples|bench|e2e|scripts)(?=\/)/.exec(path)?.[0];
}
