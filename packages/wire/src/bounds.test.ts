import { connect } from "node:net";
import { expect, test } from "vitest";
import { parseAddress } from "./address.ts";
import { LOOPBACK, rejection, Rig, sleep, until } from "./fixtures/rig.ts";
import { encodeFrame } from "./frame/codec.ts";
import { KIND } from "./frame/frame.ts";
import { encodeHello } from "./frame/hello.ts";
import { wireLimits } from "./limits.ts";

const rig = new Rig();
const timeoutMs = 5_000;

test("calls beyond a connection's bound are OVERLOADED, and the rest are answered", async () => {
  const server = rig.server({ limits: { inflightPerConnectionMax: 3 } }).method("wait", () => sleep(30));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, () => client.call("wait", 0, { timeoutMs })),
  );
  expect(results.map((result) => result.status).sort()).toEqual([
    ...Array.from({ length: 3 }, () => "fulfilled"),
    ...Array.from({ length: 2 }, () => "rejected"),
  ]);
  const failed = results.find((result) => result.status === "rejected");
  expect(failed?.reason).toMatchObject({
    code: "OVERLOADED",
    message: "3 calls in flight on this connection",
  });
  await expect(client.call("wait", 0, { timeoutMs })).resolves.toBeUndefined();
});

test("calls beyond the server's bound are OVERLOADED, whichever connection they come on", async () => {
  const server = rig.server({ limits: { inflightMax: 2 } }).method("wait", () => sleep(30));
  await server.listen(LOOPBACK);
  const calls = [1, 2, 3].map(() => rig.client(server.address).call("wait", 0, { timeoutMs }));
  const results = await Promise.allSettled(calls);
  expect(
    results.filter((result) => result.status === "rejected").map(({ reason }) => String(reason)),
  ).toEqual(["WireFailure: 2 calls in flight"]);
});

test("request bytes in flight are bounded, and given back", async () => {
  const server = rig.server({ limits: { inflightBytesMax: 2_500 } }).method("wait", () => sleep(30));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const body = Buffer.alloc(1_000);
  const results = await Promise.allSettled([1, 2, 3].map(() => client.call("wait", body, { timeoutMs })));
  expect(results.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  expect(server.stats.inflightBytes).toBe(0);
});

test("connections beyond the bound are refused with the reason, and the others stay", async () => {
  const server = rig.server({ limits: { connectionsMax: 1 } }).method("one", () => 1);
  await server.listen(LOOPBACK);
  const first = rig.client(server.address);
  expect(await first.call("one", 0, { timeoutMs })).toBe(1);
  const error = await rejection(rig.client(server.address).call("one", 0, { timeoutMs }));
  expect(error).toMatchObject({
    code: "UNREACHABLE",
    message: expect.stringContaining("OVERLOADED: 1 conn") as string,
  });
  expect(await first.call("one", 0, { timeoutMs })).toBe(1);
  first.close();
  await until("the first has left", () => server.stats.connections === 0);
  expect(await rig.client(server.address).call("one", 0, { timeoutMs })).toBe(1);
});

test("a client bounds its own calls", async () => {
  const server = rig.server().method("wait", () => sleep(30));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address, { limits: { callsMax: 2 } });
  const calls = [1, 2].map(() => client.call("wait", 0, { timeoutMs }));
  expect((await rejection(client.call("wait", 0, { timeoutMs }))).code).toBe("OVERLOADED");
  await Promise.all(calls);
});

test("whoever says nothing is cut off after the hello bound", async () => {
  const server = rig.server({ limits: { helloTimeoutMs: 50, tickMs: 10 } });
  await server.listen(LOOPBACK);
  const socket = connect(parseAddress(server.address));
  const startedAt = performance.now();
  await new Promise<void>((resolve) => socket.on("close", () => resolve()).resume());
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(server.stats.connections).toBe(0);
});

test("a client with the wrong token, or with none, is refused before it can call", async () => {
  const server = rig.server({ token: "secret" }).method("one", () => 1);
  await server.listen(LOOPBACK);
  expect(await rig.client(server.address, { token: "secret" }).call("one", 0, { timeoutMs })).toBe(1);
  for (const options of [{}, { token: "guess" }]) {
    const error = await rejection(rig.client(server.address, options).call("one", 0, { timeoutMs }));
    expect(error).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("UNAUTHORISED") as string,
    });
  }
});

test("a client that asks for much and reads nothing is no longer read from, and then cut off", async () => {
  let served = 0;
  const ends: string[] = [];
  const server = rig.server({
    limits: { sendBufferBytesHigh: 65_536, tickMs: 10, pingAfterMs: 50, pongWithinMs: 100 },
    onConnectionEnd: (_, reason) => ends.push(reason.message),
  });
  server.method("big", () => {
    served += 1;
    return Buffer.alloc(500_000);
  });
  await server.listen(LOOPBACK);
  const socket = connect(parseAddress(server.address));
  rig.onEnd(() => void socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.pause();
  socket.write(encodeHello({ min: 1, max: 1, minor: 0, name: "greedy", token: undefined }));
  for (let id = 0; id < 500; id += 1) {
    const frame = {
      kind: KIND.request,
      id,
      method: "big",
      timeoutMs,
      body: "x".repeat(20_000),
      trace: undefined,
    } as const;
    socket.write(encodeFrame(frame, 30_000));
  }
  await until("it is cut off", () => ends.length === 1);
  expect(ends[0]).toMatch(/took nothing of \d+ queued bytes/);
  expect(served).toBeLessThan(50);
});

test("answers that nobody reads and that were asked for in one go end the connection at the bound", async () => {
  const ends: string[] = [];
  const server = rig.server({
    limits: { sendBufferBytesMax: 5_000_000 },
    onConnectionEnd: (_, reason) => ends.push(reason.message),
  });
  server.method("big", () => Buffer.alloc(1_000_000));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, () => client.call("big", 0, { timeoutMs })),
  );
  expect(results.some((result) => result.status === "rejected")).toBe(true);
  expect(ends[0]).toMatch(/bytes of answers are not being read/);
});

test("limits must be positive, and large enough to work", () => {
  expect(() => wireLimits({ tickMs: 0 })).toThrow(/tickMs must be a positive number/);
  expect(() => wireLimits({ pingAfterMs: NaN })).toThrow(/pingAfterMs/);
  expect(() => wireLimits({ sendBufferBytesHigh: 100 })).toThrow(/at least 65536/);
});
