import { expect, test } from "vitest";
import { LOOPBACK, rejection, Rig, sleep, until } from "./fixtures/rig.ts";

const rig = new Rig();
const limits = { tickMs: 5, pingAfterMs: 30, pongWithinMs: 60, idlePingAfterMs: 100 };
/** For connections that must stay: a busy machine may take its time to answer a ping. */
const patient = { ...limits, pongWithinMs: 5_000 };

test("a call into a black hole is CUT within the ping bound, long before its own time is over", async () => {
  const server = rig.server().method("wait", ({ timeoutMs }) => sleep(timeoutMs / 100));
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address, { limits });
  await client.call("wait", 0, { timeoutMs: 100 });
  proxy.hold();
  const startedAt = performance.now();
  const error = await rejection(client.call("wait", 0, { timeoutMs: 10_000 }));
  expect(error).toMatchObject({ code: "CUT", message: expect.stringMatching(/silent for \d+ ms/) as string });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test("after one time-out in silence, nothing more is sent into the black hole", async () => {
  const server = rig.server().method("one", () => 1);
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address, { limits: { ...limits, pongWithinMs: 200, helloTimeoutMs: 100 } });
  await client.call("one", 0, { timeoutMs: 100 });
  proxy.hold();
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 5; i += 1) codes.push((await rejection(client.call("one", 0, { timeoutMs: 20 }))).code);
  expect(codes).toEqual(["TIMEOUT", "UNREACHABLE", "UNREACHABLE", "UNREACHABLE", "UNREACHABLE"]);
});

test("a slow handler on a healthy connection costs nobody else anything", async () => {
  const server = rig
    .server()
    .method("slow", () => sleep(500))
    .method("one", () => 1);
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address, { limits: patient });
  await client.call("one", 0, { timeoutMs: 5_000 });
  const slow = client.call("slow", 0, { timeoutMs: 10_000 });
  expect((await rejection(client.call("slow", 0, { timeoutMs: 50 }))).code).toBe("TIMEOUT");
  expect(await client.call("one", 0, { timeoutMs: 5_000 })).toBe(1);
  await slow;
  expect(proxy.accepted).toBe(1);
});

test("an idle connection that is half open is found out and opened anew", async () => {
  const server = rig.server().method("one", () => 1);
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address, { limits });
  await client.call("one", 0, { timeoutMs: 1_000 });
  proxy.hold();
  await sleep(250);
  proxy.release();
  expect(await client.call("one", 0, { timeoutMs: 1_000 })).toBe(1);
  expect(proxy.accepted).toBe(2);
});

test("an idle connection that is healthy stays", async () => {
  const server = rig.server({ limits: patient }).method("one", () => 1);
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address, { limits: patient });
  await client.call("one", 0, { timeoutMs: 5_000 });
  await sleep(400);
  expect(await client.call("one", 0, { timeoutMs: 5_000 })).toBe(1);
  expect(proxy.accepted).toBe(1);
});

test("a server notices a client that vanished, and aborts what it asked for", async () => {
  const reasons: string[] = [];
  const server = rig.server({ limits }).method("wait", async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    reasons.push((signal.reason as Error).message);
  });
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address);
  const call = rejection(client.call("wait", 0, { timeoutMs: 10_000 }));
  await until("the handler runs", () => server.stats.inflight === 1);
  proxy.hold();
  await until("the handler is aborted", () => reasons.length === 1);
  expect(reasons[0]).toMatch(/silent for/);
  expect(server.stats.connections).toBe(0);
  proxy.cut();
  expect((await call).code).toBe("CUT");
});
