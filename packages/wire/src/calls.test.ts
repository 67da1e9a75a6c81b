import { createServer } from "node:net";
import { expect, test } from "vitest";
import { TransportError } from "@keelson/kernel";
import { WireFailure } from "./errors.ts";
import { LOOPBACK, rejection, Rig, sleep, until } from "./fixtures/rig.ts";
import type { Incoming } from "./server/incoming.ts";

const rig = new Rig();
const timeoutMs = 5_000;

test("a thousand calls at once each get their own answer", async () => {
  const server = rig.server().method("double", async ({ body }) => {
    if (Number(body) % 3 === 0) await sleep(Number(body) % 7);
    return Number(body) * 2;
  });
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const calls = Array.from({ length: 1_000 }, (_, n) => client.call("double", n, { timeoutMs }));
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 1_000 }, (_, n) => 2 * n));
  expect(server.stats).toEqual({ connections: 1, inflight: 0, inflightBytes: 0 });
  expect(client.size).toBe(0);
});

test("a handler learns who calls, how long they wait and their trace", async () => {
  let seen: Incoming | undefined;
  const server = rig.server().method("look", (call) => {
    seen = call;
  });
  await server.listen(LOOPBACK);
  await rig.client(server.address, { name: "node-b" }).call("look", [1], { timeoutMs: 321, trace: "t1" });
  expect(seen).toMatchObject({ body: [1], timeoutMs: 321, trace: "t1", peer: { name: "node-b" } });
  expect(seen?.peer.address).toMatch(/^127\.0\.0\.1:\d+$/);
});

test("a handler's failure arrives with its code; any other error is INTERNAL; neither harms the connection", async () => {
  const server = rig
    .server()
    .method("refuse", () => {
      throw new WireFailure("TEAPOT", "short and stout");
    })
    .method("break", () => Promise.reject(new TypeError("oops")))
    .method("odd", () => {
      const circle: unknown[] = [];
      circle.push(circle);
      return circle;
    })
    .method("fine", () => 1);
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  expect(await rejection(client.call("refuse", 0, { timeoutMs }))).toEqual(
    new WireFailure("TEAPOT", "short and stout"),
  );
  expect(await rejection(client.call("break", 0, { timeoutMs }))).toMatchObject({
    code: "INTERNAL",
    message: "TypeError: oops",
  });
  expect(await rejection(client.call("odd", 0, { timeoutMs }))).toMatchObject({ code: "UNENCODABLE" });
  expect(await rejection(client.call("none", 0, { timeoutMs }))).toMatchObject({ code: "NO_METHOD" });
  expect(await client.call("fine", 0, { timeoutMs })).toBe(1);
  expect(server.stats.connections).toBe(1);
});

test("a request or an answer that is too large is refused by itself, and nothing else changes", async () => {
  const limits = { frameBytesMax: 1_000 };
  const server = rig.server({ limits }).method("size", ({ body }) => "x".repeat(Number(body)));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address, { limits });
  const other = client.call("size", 10, { timeoutMs });
  expect(await rejection(client.call("size", "x".repeat(2_000), { timeoutMs }))).toMatchObject({
    code: "TOO_LARGE",
  });
  expect(await rejection(client.call("size", 2_000, { timeoutMs }))).toMatchObject({ code: "TOO_LARGE" });
  expect(await other).toBe("x".repeat(10));
});

test("a call that is not answered in time is TIMEOUT, and the handler hears of it", async () => {
  const aborted: string[] = [];
  const server = rig.server().method("wait", async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted.push((signal.reason as WireFailure).code);
  });
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const startedAt = performance.now();
  const error = await rejection(client.call("wait", 0, { timeoutMs: 60 }));
  expect(error).toBeInstanceOf(TransportError);
  expect(error.code).toBe("TIMEOUT");
  expect(performance.now() - startedAt).toBeGreaterThan(55);
  await until("the handler is aborted", () => aborted.length === 1);
  expect(aborted).toEqual(["CANCELLED"]);
  await until("nothing is in flight", () => server.stats.inflight === 0);
});

test("the server aborts a handler whose caller's time is over, even if no cancel comes", async () => {
  const reasons: string[] = [];
  const server = rig.server({ limits: { tickMs: 5, pongWithinMs: 10_000 } }).method("wait", async (call) => {
    await new Promise<void>((resolve) => call.addEventListener("abort", () => resolve(), { once: true }));
    reasons.push((call.signal.reason as WireFailure).code);
  });
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address);
  const call = rejection(client.call("wait", 0, { timeoutMs: 60 }));
  await until("the handler runs", () => server.stats.inflight === 1);
  proxy.hold();
  expect((await call).code).toBe("TIMEOUT");
  await until("the handler is aborted", () => reasons.length === 1);
  expect(reasons).toEqual(["TIMEOUT"]);
});

test("aborting a call reaches the handler's signal", async () => {
  let signal: AbortSignal | undefined;
  const server = rig.server().method("wait", async (call) => {
    signal = call.signal;
    await new Promise<void>((resolve) => call.signal.addEventListener("abort", () => resolve()));
  });
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const abort = new AbortController();
  const call = rejection(client.call("wait", 0, { timeoutMs, signal: abort.signal }));
  await until("the handler runs", () => signal !== undefined);
  abort.abort();
  expect((await call).code).toBe("CANCELLED");
  await until("the signal is aborted", () => signal?.aborted === true);
  expect((await rejection(client.call("wait", 0, { timeoutMs, signal: abort.signal }))).code).toBe(
    "CANCELLED",
  );
});

test("a server that dies in the middle of an answer leaves CUT, and its handlers' callers are aborted", async () => {
  let aborted = false;
  const server = rig.server().method("wait", async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted = true;
  });
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address);
  const calls = Array.from({ length: 10 }, () => rejection(client.call("wait", 0, { timeoutMs })));
  await until("the handlers run", () => server.stats.inflight === 10);
  proxy.cut();
  for (const error of await Promise.all(calls))
    expect(error).toMatchObject({ name: "TransportError", code: "CUT" });
  await until("a handler is aborted", () => aborted);
});

test("answers larger than what a connection queues come one after the other", async () => {
  const server = rig.server().method("big", () => Buffer.alloc(3_000_000));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  for (let i = 0; i < 5; i += 1) expect(await client.call("big", 0, { timeoutMs })).toHaveLength(3_000_000);
  const many = await Promise.all(Array.from({ length: 10 }, () => client.call("big", 0, { timeoutMs })));
  expect(many).toHaveLength(10);
  expect(await client.call("big", 0, { timeoutMs })).toHaveLength(3_000_000);
});

test("half an answer is no answer", async () => {
  const server = rig.server().method("big", () => Buffer.alloc(4_000_000));
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address);
  await rejection(client.call("none", 0, { timeoutMs }));
  const call = rejection(client.call("big", 0, { timeoutMs }));
  await until("the answer is on its way", () => proxy.relayedBytes > 100_000);
  proxy.cut();
  expect((await call).code).toBe("CUT");
});

test("a port that refuses is UNREACHABLE at once, also for calls that come right after", async () => {
  const idle = createServer();
  await new Promise<void>((resolve) => idle.listen(0, "127.0.0.1", resolve));
  const { port } = idle.address() as { port: number };
  await new Promise<void>((resolve) => idle.close(() => resolve()));
  const client = rig.client(`127.0.0.1:${port}`);
  const startedAt = performance.now();
  const error = await rejection(client.call("any", 0, { timeoutMs }));
  expect(error).toMatchObject({ name: "TransportError", code: "UNREACHABLE" });
  expect(error.message).toContain("ECONNREFUSED");
  expect((await rejection(client.call("any", 0, { timeoutMs }))).message).toMatch(
    /ECONNREFUSED.*next try in \d+ ms/,
  );
  expect(performance.now() - startedAt).toBeLessThan(500);
});

test("a server that never says hello is UNREACHABLE: nothing was sent", async () => {
  const received: Buffer[] = [];
  const mute = createServer((socket) => socket.on("data", (chunk: Buffer) => received.push(chunk)));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const { port } = mute.address() as { port: number };
  const limits = { helloTimeoutMs: 100, tickMs: 10 };
  const client = rig.client(`127.0.0.1:${port}`, { limits });
  rig.onEnd(() => void mute.close());
  expect((await rejection(client.call("secret", 0, { timeoutMs: 30 }))).code).toBe("UNREACHABLE");
  const error = await rejection(client.call("secret", 0, { timeoutMs }));
  expect(error.code).toBe("UNREACHABLE");
  expect(error.message).toMatch(/no hello within 1\d\d ms/);
  expect(Buffer.concat(received).includes("secret")).toBe(false);
});

test("a lost connection is opened again by the next call", async () => {
  const server = rig.server().method("one", () => 1);
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address);
  expect(await client.call("one", 0, { timeoutMs })).toBe(1);
  proxy.cut();
  await until("the server lost it", () => server.stats.connections === 0);
  await sleep(5);
  expect(await client.call("one", 0, { timeoutMs })).toBe(1);
  expect(proxy.accepted).toBe(2);
});

test("a closed client sends nothing more", async () => {
  const server = rig.server().method("wait", () => sleep(50));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const call = rejection(client.call("wait", 0, { timeoutMs }));
  await until("the handler runs", () => server.stats.inflight === 1);
  client.close();
  expect((await call).code).toBe("CUT");
  expect(await rejection(client.call("wait", 0, { timeoutMs }))).toMatchObject({
    code: "UNREACHABLE",
    message: expect.stringContaining("client was closed") as string,
  });
});

test.each([0, -1, NaN, Infinity, 2 ** 40])("a call with timeoutMs %d is refused", async (bad) => {
  const client = rig.client("127.0.0.1:1");
  expect(await rejection(client.call("any", 0, { timeoutMs: bad }))).toBeInstanceOf(RangeError);
});
