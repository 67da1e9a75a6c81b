import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MB = 2 ** 20;
const KEPT_BYTES_MAX = 50 * MB;
const hasGlibc =
  (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime !==
  undefined;

interface Taken {
  readonly failures: readonly string[];
  readonly whileUsedBytes: number;
  readonly afterwardsBytes: number;
}

/** In a process of its own: others' tests run in this one, and take and free memory meanwhile. Collected memory is freed by another thread, a moment later. */
const program = `
  import { setTimeout as sleep } from "node:timers/promises";
  import { openNativeHeap } from ${JSON.stringify(new URL("native-heap.ts", import.meta.url).href)};
  const rss = async () => {
    for (let i = 0; i < 3; i++) {
      globalThis.gc();
      await sleep(20);
    }
    return process.memoryUsage.rss();
  };
  const failures = [];
  const heap = openNativeHeap((why) => failures.push(why));
  const small = [];
  const use = (count, bytes) =>
    Array.from({ length: count }, () => {
      small.push(Buffer.allocUnsafeSlow(50_000).fill(1));
      return Buffer.allocUnsafeSlow(bytes).fill(1);
    });
  const before = await rss();
  let large = use(4, ${8 * MB});
  large = [];
  await rss();
  large = use(60, ${2 * MB});
  const whileUsedBytes = (await rss()) - before;
  large = [];
  let afterwardsBytes = (await rss()) - before;
  for (let i = 0; i < 50 && afterwardsBytes >= ${KEPT_BYTES_MAX}; i++) afterwardsBytes = (await rss()) - before;
  await heap?.trim();
  if (large.length + small.length !== 64) failures.push("the small ones have gone too");
  console.log(JSON.stringify({ failures, whileUsedBytes, afterwardsBytes }));
`;

test.runIf(hasGlibc)(
  "large buffers that nobody has any more are given back, though small ones lie between them and larger ones came before",
  async () => {
    const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
    const flags = ["--expose-gc", "--conditions=source", "--import", loader, "--input-type=module"];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, "-e", program]);
    const { failures, whileUsedBytes, afterwardsBytes } = JSON.parse(stdout) as Taken;
    expect(failures).toEqual([]);
    expect(whileUsedBytes).toBeGreaterThan(100 * MB);
    expect(afterwardsBytes).toBeLessThan(KEPT_BYTES_MAX);
  },
  60_000,
);
