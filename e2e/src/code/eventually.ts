/** Waits until something is so, and says what was waited for when it does not come. */
import { setTimeout as sleep } from "node:timers/promises";

const lookMs = 100;

export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(lookMs);
  }
}
