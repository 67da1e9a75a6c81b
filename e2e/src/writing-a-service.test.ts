/** docs/writing-a-service.md is true: its files have no type errors, its tests pass, and its plug-in loads. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { AnyPlugin } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const text = readFileSync(join(root, "docs/writing-a-service.md"), "utf8");
const run = promisify(execFile);
let folder: string;

beforeAll(() => {
  // Inside the repository, so that the files find our packages as a user's find them.
  mkdirSync(join(root, "e2e/dist"), { recursive: true });
  folder = mkdtempSync(join(root, "e2e/dist/guestbook-"));
  for (const [, name = "", source = ""] of text.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g))
    writeFileSync(join(folder, name), source);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Resolves with what the command printed; rejects with it when it failed. */
async function node(...args: readonly string[]): Promise<string> {
  try {
    return (await run(process.execPath, args, { cwd: root })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${args.join(" ")}\n${stdout}${stderr}`, { cause: error });
  }
}

test("its files have no type errors", { timeout: 120_000 }, async () => {
  const compilerOptions = { incremental: false, tsBuildInfoFile: null };
  const config = { extends: "../../../tsconfig.json", compilerOptions, include: ["*.ts"], exclude: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  expect(await node("node_modules/typescript/bin/tsc", "-p", folder)).toBe("");
});

test("its tests pass", { timeout: 120_000 }, async () => {
  const config = join(folder, "vitest.config.ts");
  writeFileSync(
    config,
    `import base from ${JSON.stringify(join(root, "vitest.config.ts"))};
export default { ...base, test: { root: ${JSON.stringify(folder)}, include: ["*.test.ts"] } };\n`,
  );
  const printed = await node("node_modules/vitest/vitest.mjs", "run", "--config", config, "--reporter=json");
  expect(JSON.parse(printed.slice(printed.indexOf("{")))).toMatchObject({
    numPassedTests: 2,
    numFailedTests: 0,
  });
});

test("its plug-in loads", async () => {
  const { default: plugin } = (await import(join(folder, "guestbook-plugin.ts"))) as { default: AnyPlugin };
  expect(Object.keys(plugin.http ?? {})).toEqual(["read", "sign"]);
});
