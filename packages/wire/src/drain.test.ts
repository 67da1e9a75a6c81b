import { connect } from "node:net";
import { expect, test } from "vitest";
import type { TransportError } from "@keelson/kernel";
import { parseAddress } from "./address.ts";
import { LOOPBACK, rejection, Rig, sleep, until } from "./fixtures/rig.ts";
import { encodeHello } from "./frame/hello.ts";

const rig = new Rig();
const timeoutMs = 5_000;

test("closing loses no request: each is answered, or was never sent", async () => {
  let handled = 0;
  const server = rig.server().method("work", async () => {
    await sleep(5);
    handled += 1;
    return "done";
  });
  await server.listen(LOOPBACK);
  const outcomes: string[] = [];
  let stop = false;
  const callers = Array.from({ length: 8 }, async () => {
    const client = rig.client(server.address);
    while (!stop) {
      outcomes.push(
        await client
          .call("work", 0, { timeoutMs })
          .then(String, (error: unknown) => (error as TransportError).code),
      );
      if (outcomes.at(-1) !== "done") await sleep(1);
    }
  });
  await until("work is under way", () => handled > 50);
  const startedAt = performance.now();
  await server.close({ graceMs: 2_000 });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await until("callers notice", () => outcomes.at(-1) === "UNREACHABLE");
  stop = true;
  await Promise.all(callers);
  expect(new Set(outcomes)).toEqual(new Set(["done", "UNREACHABLE"]));
  expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(handled);
});

test("a request that crosses the goaway on its way is still answered", async () => {
  const server = rig.server().method("work", () => sleep(20).then(() => "done"));
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  await client.call("work", 0, { timeoutMs });
  const startedAt = performance.now();
  const closing = server.close({ graceMs: 10_000 });
  // The goaway has not been read here yet, so these leave on the old connection.
  const crossing = Array.from({ length: 10 }, () => client.call("work", 0, { timeoutMs }));
  expect(await Promise.all(crossing)).toEqual(Array.from({ length: 10 }, () => "done"));
  await closing;
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test("what is not finished within the grace is cut off, and its handler aborted", async () => {
  let aborted = false;
  const server = rig.server().method("wait", async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted = true;
  });
  await server.listen(LOOPBACK);
  const call = rejection(rig.client(server.address).call("wait", 0, { timeoutMs }));
  await until("the handler runs", () => server.stats.inflight === 1);
  await server.close({ graceMs: 30 });
  expect((await call).code).toBe("CUT");
  expect(aborted).toBe(true);
});

test("streams are told to go elsewhere", async () => {
  const server = rig.server().stream("feed", (stream) => stream.closed());
  await server.listen(LOOPBACK);
  const failed = new Promise<Error>((fail) => {
    rig.client(server.address).stream("feed", 0, { item() {}, end() {}, fail });
  });
  await until("the stream is open", () => server.stats.connections === 1);
  await sleep(10);
  await server.close({ graceMs: 1_000 });
  expect(await failed).toMatchObject({ name: "WireFailure", code: "GOING_AWAY" });
});

test("a client that has connected but not yet said hello is told as well", async () => {
  const server = rig.server();
  await server.listen(LOOPBACK);
  const socket = connect(parseAddress(server.address));
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  await until("it is connected", () => server.stats.connections === 1);
  const closing = server.close({ graceMs: 2_000 });
  socket.write(encodeHello({ min: 1, max: 1, minor: 0, name: "late", token: undefined }));
  await until("it is told", () => Buffer.concat(received).includes("GOING_AWAY"));
  socket.end();
  await expect(closing).resolves.toBeUndefined();
});

test("a server that never listened closes at once", async () => {
  await expect(rig.server().close({ graceMs: 1_000 })).resolves.toBeUndefined();
});
