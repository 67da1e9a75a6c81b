import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { openNativeHeap } from "./native-heap.ts";

const MB = 2 ** 20;
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collected memory is freed by another thread, a moment later. */
async function rssMb(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collect();
    await sleep(20);
  }
  return process.memoryUsage.rss() / MB;
}

test.runIf(process.platform === "linux")(
  "large buffers that nobody has any more are given back, though small ones lie between them and larger ones came before",
  async () => {
    const heap = openNativeHeap((why) => expect.fail(why));
    const small: Buffer[] = [];
    const use = (count: number, bytes: number): Buffer[] =>
      Array.from({ length: count }, () => {
        small.push(Buffer.allocUnsafeSlow(50_000).fill(1));
        return Buffer.allocUnsafeSlow(bytes).fill(1);
      });
    const before = await rssMb();
    let large = use(4, 8 * MB);
    large = [];
    await rssMb();
    large = use(60, 2 * MB);
    expect((await rssMb()) - before).toBeGreaterThan(100);
    large = [];
    expect((await rssMb()) - before).toBeLessThan(50);
    await heap?.trim();
    expect(large.length + small.length).toBe(64);
  },
);
