/** A router at the end of a caller's time, on a clock that does not stand still while somebody looks at it. */
import { Keys, RouteTable, type NodeReply, type NodeRequest, type Timer } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { Router } from "./router.ts";

/** Goes on whenever it is read, and wakes people a little early, as real ones do. */
class RestlessClock extends ManualClock {
  readonly #readMs: number;
  #read = 0;

  constructor(readMs: number) {
    super();
    this.#readMs = readMs;
  }

  override now(): number {
    this.#read += this.#readMs;
    return super.now() + this.#read;
  }

  override after(delayMs: number, run: () => void): Timer {
    return super.after(Math.trunc(delayMs), run);
  }
}

const TIMEOUT_MS = 100;
const keys = new Keys("test");

/** Asks a shard whose nodes all answer alike, and gives how much time each try was sent with, and how the call ended. */
async function ask(readMs: number, answer: NodeReply): Promise<{ left: number[]; code: unknown }> {
  const clock = new RestlessClock(readMs);
  const table = new RouteTable();
  const tenure = { node: "a", session: "s", era: 1, address: "a:1" };
  table.put(keys.parse(keys.tenure("jobs/1/0"))!, tenure, 11);
  const left: number[] = [];
  const transport = {
    call: (_address: string, { timeoutMs }: NodeRequest): Promise<NodeReply> => {
      left.push(timeoutMs);
      return new Promise((resolve) => void clock.after(1, () => resolve(answer)));
    },
  };
  const options = { backoff: { firstMs: 5, maxMs: 20 } };
  const router = new Router({ table, transport, clock, random: () => 1, options });
  const request = { service: "jobs", shard: "1", method: "get", mode: "read", body: null } as const;
  const ended = router.call({ ...request, timeoutMs: TIMEOUT_MS }).then(
    () => "answered",
    (error: unknown) => (error as { code?: string }).code,
  );
  await clock.advance(2 * TIMEOUT_MS);
  return { left, code: await ended };
}

test.each<[string, NodeReply]>([
  ["knows nobody who does", { kind: "not-owner" }],
  ["names another", { kind: "not-owner", hint: { node: "b", address: "b:1" } }],
])("sends nothing that has no time left, when a node does not hold the shard and %s", async (_, answer) => {
  const left: number[] = [];
  for (let readMs = 0.01; readMs < 1; readMs += 0.01) {
    const ended = await ask(readMs, answer);
    expect(ended.code).toBe("NO_HOLDER");
    left.push(...ended.left);
  }
  expect(Math.min(...left)).toBeGreaterThan(0);
  // Some have left in the very last moment: that is when it matters.
  expect(Math.min(...left)).toBeLessThan(1);
});
