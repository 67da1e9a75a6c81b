import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

test("the committed kernels are what their source compiles to", async () => {
  const script = join(import.meta.dirname, "../../../scripts/build-kernels.mjs");
  const { compileKernels } = (await import(script)) as { compileKernels: () => Promise<string> };
  const committed = await readFile(join(import.meta.dirname, "module.generated.ts"), "utf8");
  expect(await compileKernels()).toBe(committed);
}, 60_000);
