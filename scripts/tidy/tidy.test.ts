import { describe, expect, test } from "vitest";
import { tidy } from "./tidy.ts";

/** What tidy says of one file, as `line: message`. */
function say(path: string, text: string): string[] {
  return tidy([{ path, text }]).map(({ line, message }) => `${line}: ${message}`);
}

const kernel = "packages/kernel/src/a.ts";
const runtime = "packages/runtime/src/host/a.ts";

describe("imports", () => {
  test.each([
    [kernel, `import { x } from "@keelson/wire";`],
    [kernel, `import type { x } from "@keelson/runtime";`],
    [kernel, `import { x } from "node:fs";`],
    [kernel, `import { x } from "zod";`],
    [kernel, `import { x } from "../../wire/src/index.ts";`],
    ["packages/wire/src/a.ts", `export * from "@keelson/runtime";`],
    ["packages/objects/src/a.ts", `import "@keelson/wire";`],
    ["packages/stores/src/a.ts", `const x = await import("@keelson/runtime");`],
    ["packages/runtime/src/a.ts", `import {\n  x,\n} from "@keelson/stores/memory";`],
    ["packages/testkit/src/a.ts", `import { x } from "@keelson/stores/embedded";`],
    ["services/jobs/src/a.ts", `import { x } from "@keelson/stores/memory";`],
    ["services/jobs/src/a.ts", `import { x } from "@keelson/logs";`],
    ["services/jobs/src/a.ts", `import { x } from "@keelson/kernel";`],
    ["services/jobs/src/a.ts", `import { x } from "../../logs/src/a.ts";`],
    ["apps/gateway/src/a.ts", `import { x } from "@keelson/jobs";`],
    ["simulator/src/a.ts", `import { x } from "@keelson/stores/embedded";`],
    ["examples/src/a.ts", `import { x } from "keelson";`],
    ["packages/runtime/src/a.test.ts", `import { x } from "@keelson/simulator";`],
    ["packages/novel/src/a.ts", `export const x = 1;`],
  ])("%s may not say %s", (path, text) => {
    expect(say(path, text)).toHaveLength(1);
  });

  test.each([
    [kernel, `import { x } from "../tenure/epoch.ts";`],
    [kernel, `// import { x } from "node:fs";\nconst text = 'import { x } from "node:fs"';`],
    ["packages/kernel/src/a.test.ts", `import { x } from "vitest";\nimport { y } from "@keelson/testkit";`],
    ["packages/wire/src/a.ts", `import { x } from "@keelson/kernel";\nimport { y } from "msgpackr";`],
    ["packages/testkit/src/a.ts", `import { x } from "@keelson/stores/memory";`],
    [
      "services/jobs/src/a.ts",
      `import type { x } from "@keelson/kernel";\nimport { y } from "@keelson/runtime";`,
    ],
    ["apps/gateway/src/a.ts", `import { x } from "@keelson/jobs/api";`],
    ["apps/cli/src/a.ts", `import { x } from "@keelson/stores/embedded";`],
    ["e2e/src/a.test.ts", `import { x } from "@keelson/stores/embedded";`],
  ])("%s may say %s", (path, text) => {
    expect(say(path, text)).toEqual([]);
  });

  test("a finding names the line and what is allowed", () => {
    expect(say("packages/wire/src/a.ts", `\nimport { x } from "@keelson/runtime";`)).toEqual([
      `2: packages/wire may not import "@keelson/runtime": it may import kernel`,
    ]);
  });
});

describe("banned words", () => {
  test.each([
    [kernel, "const t = Date.now();"],
    [kernel, "const at: Date = x;"],
    [kernel, "performance.now();"],
    [kernel, "Math.random();"],
    [kernel, "setTimeout(f, 1);"],
    [kernel, "setInterval(f, 1);"],
    [kernel, "setImmediate(f);"],
    [kernel, "queueMicrotask(f);"],
    [kernel, "process.exit(1);"],
    [kernel, "console.log(1);"],
    [kernel, "globalThis.setTimeout(f, 1);"],
    [kernel, "const text = `now ${Date.now()}`;"],
    [runtime, "Date.now();"],
    [runtime, "Math.random();"],
    [runtime, "setTimeout(f, 1);"],
    [runtime, `import { setTimeout } from "node:timers/promises";`],
  ])("%s may not say %s", (path, text) => {
    expect(say(path, text)).toHaveLength(1);
  });

  test.each([
    [kernel, "// Date.now() is banned here, as is Math.random()"],
    [kernel, "/* a process, a console */ const s = 'Date';"],
    [kernel, "clock.setTimeout(f, 1); const o = { process: 1 }; lastDate(); Math.max(1, 2);"],
    ["packages/kernel/src/a.test.ts", "Date.now();"],
    ["packages/runtime/src/clock/system.ts", "Date.now(); setTimeout(f, 1); Math.random();"],
    ["apps/cli/src/a.ts", "Date.now();"],
  ])("%s may say %s", (path, text) => {
    expect(say(path, text)).toEqual([]);
  });

  test("a finding names what to use instead", () => {
    expect(say(kernel, "\n\nDate.now();")).toEqual([
      "3: Date is not for this folder: take `now` as an argument",
    ]);
  });
});

describe("files", () => {
  test.each(["utils", "helpers", "types", "common", "misc", "util"])(
    "a file or folder named %s is refused",
    (name) => {
      expect(say(`packages/wire/src/${name}.ts`, "")).toHaveLength(1);
      expect(say(`packages/wire/src/${name}.test.ts`, "")).toHaveLength(1);
      expect(say(`packages/wire/src/${name}/frame.ts`, "")).toHaveLength(1);
      expect(say(`packages/wire/src/frame-${name}.ts`, "")).toEqual([]);
    },
  );

  test("500 lines pass, and 501 do not", () => {
    expect(say("bench/src/a.ts", "x;\n".repeat(500))).toEqual([]);
    expect(say("bench/src/a.ts", "x;\n".repeat(501))).toEqual([
      "501: 501 lines, more than 500: split it by the nouns it holds",
    ]);
    expect(say("docs/a.md", "x\n".repeat(501))).toEqual([]);
  });

  test.each(["TO-DO", "FIX-ME", "X-XX", "HA-CK"])("a leftover %s is refused", (dashed) => {
    const word = dashed.replace("-", "");
    expect(say("bench/src/a.ts", `// ${word}: later`)).toHaveLength(1);
    expect(say("bench/src/a.ts", `// ${word.toLowerCase()}s and ${word}ED`)).toEqual([]);
  });

  test.each(["test.only", "it.skip", "describe.todo", "test.concurrent.skip"])("%s is refused", (call) => {
    expect(say("e2e/src/a.test.ts", `${call}("x", () => {});`)).toHaveLength(1);
    expect(say("e2e/src/a.test.ts", `// ${call}("x", () => {});`)).toEqual([]);
  });

  test("a registry's host is refused in any file", () => {
    const host = ["registry", "npmjs", "org"].join(".");
    expect(say("package-lock.json", `"resolved": "https://${host}/zod"`)).toHaveLength(1);
    expect(say(".npmrc", `registry=https://${["npm", "corp", "example"].join(".")}/`)).toHaveLength(1);
    expect(say("README.md", "npm.run, registry.ts, https://nodejs.org")).toEqual([]);
  });
});
