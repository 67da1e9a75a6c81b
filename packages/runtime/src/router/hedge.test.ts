import { Keys, RouteTable } from "@keelson/kernel";
import { ManualClock, ScriptedTransport } from "@keelson/testkit";
import { expect, test } from "vitest";
import { Hedge } from "./hedge.ts";
import { Router, type RouterAnswer, type RouterRequest } from "./router.ts";

const keys = new Keys("test");
const ok = (body: string) => ({ kind: "ok", epoch: { era: 1, revision: 20 }, body }) as const;

function scene(replicas: number) {
  const clock = new ManualClock();
  const transport = new ScriptedTransport(clock);
  const table = new RouteTable();
  for (let replica = 0; replica < replicas; replica++) {
    const node = "ab"[replica]!;
    const tenure = { node, session: `of-${node}`, era: 1, address: `${node}:1` };
    table.put(keys.parse(keys.tenure(`code/1/${replica}`))!, tenure, 10 + replica);
  }
  const router = new Router({ table, transport, clock, random: () => 1 });
  const hedge = new Hedge({ router, table, clock });
  const ask = async (request: Partial<RouterRequest> = {}): Promise<RouterAnswer> => {
    const whole = { service: "code", shard: "1", method: "get", body: 0, timeoutMs: 5_000 };
    const answer = hedge.call({ ...whole, mode: "read", ...request });
    answer.catch(() => undefined);
    await clock.advance(5_000);
    return answer;
  };
  return { clock, transport, hedge, ask };
}

test("a read that takes too long is asked of another replica, whose answer counts", async () => {
  const { transport, hedge, ask } = scene(2);
  transport.says("a:1", { afterMs: 3_000, reply: ok("late") });
  transport.says("b:1", ok("early"));
  expect(await ask()).toMatchObject({ body: "early", replica: 1 });
  expect(hedge.counts).toEqual({ sent: 1, won: 1 });
  expect(transport.sent.map(({ address }) => address)).toEqual(["a:1", "b:1"]);
});

test("a quick read is asked once, and the delay comes down to what reads take", async () => {
  const { transport, hedge, ask } = scene(2);
  transport.says("a:1", ok("quick"));
  for (let i = 0; i < 300; i++) await ask();
  expect(hedge.counts.sent).toBe(0);
  expect(hedge.afterMs("code")).toBeLessThan(60);
});

test("writes, and shards with one holder, are never asked twice", async () => {
  const two = scene(2);
  two.transport.says("a:1", { afterMs: 3_000, reply: ok("late") });
  await two.ask({ mode: "write" });
  expect(two.transport.sent).toHaveLength(1);
  const one = scene(1);
  one.transport.says("a:1", { afterMs: 3_000, reply: ok("late") });
  await one.ask();
  expect(one.transport.sent).toHaveLength(1);
});

test("hedges are a small share of reads, however slow the first replica is", async () => {
  const { clock, transport, hedge } = scene(2);
  transport.says("a:1", { afterMs: 4_000, reply: ok("late") });
  transport.says("b:1", ok("early"));
  const request = {
    service: "code",
    shard: "1",
    method: "get",
    body: 0,
    timeoutMs: 4_500,
    mode: "read",
  } as const;
  const reads = Array.from({ length: 2_000 }, () => hedge.call(request));
  await clock.advance(5_000);
  await Promise.all(reads);
  // 100 are saved up at most, and one a second is earned.
  expect(hedge.counts.sent).toBeGreaterThanOrEqual(100);
  expect(hedge.counts.sent).toBeLessThanOrEqual(110);
});

test("when both fail, the failure is the first one's", async () => {
  const { transport, ask } = scene(2);
  const error = (code: string) => ({ kind: "error", code, message: "no" }) as const;
  transport.says("a:1", { afterMs: 3_000, reply: error("FIRST") });
  transport.says("b:1", error("SECOND"));
  await expect(ask()).rejects.toMatchObject({ code: "FIRST" });
});
