import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TcpProxy } from "./tcp-proxy.ts";

let echo: Server;
let echoed = "";
let proxy: TcpProxy;
const clients: Socket[] = [];

beforeEach(async () => {
  echoed = "";
  echo = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      echoed += chunk.toString();
      socket.write(chunk);
    });
  });
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  proxy = await TcpProxy.open((echo.address() as AddressInfo).port);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
  echo.close();
});

/** A client, and what it heard so far. */
async function dial(): Promise<{ socket: Socket; heard: () => string; closed: () => boolean }> {
  const socket = connect(proxy.port, proxy.host);
  clients.push(socket);
  let heard = "";
  let closed = false;
  socket.on("data", (chunk) => (heard += chunk.toString()));
  socket.on("error", () => {});
  socket.on("close", () => (closed = true));
  await once(socket, "connect");
  return { socket, heard: () => heard, closed: () => closed };
}

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 2) {
    if (waited > 2_000) throw new Error("not within 2 s");
    await sleep(2);
  }
}

test("bytes and ends pass", async () => {
  const client = await dial();
  client.socket.write("hello");
  await until(() => client.heard() === "hello");
  client.socket.end();
  await until(() => proxy.connections === 0);
  expect([client.closed(), proxy.accepted]).toEqual([true, 1]);
});

test("a black hole accepts, and lets nothing through in either direction", async () => {
  const before = await dial();
  before.socket.write("a");
  await until(() => before.heard() === "a");
  proxy.blackHole();
  const after = await dial();
  before.socket.write("b");
  after.socket.write("c");
  await sleep(30);
  expect([echoed, before.heard(), after.heard(), before.closed(), after.closed()]).toEqual([
    "a",
    "a",
    "",
    false,
    false,
  ]);
  proxy.heal();
  await until(() => before.closed() && after.closed());
});

test("a reply can be swallowed while the request passes", async () => {
  const client = await dial();
  proxy.set({ kind: "swallow" }, "down");
  client.socket.write("request");
  await until(() => echoed === "request");
  await sleep(20);
  expect([client.heard(), client.closed()]).toEqual(["", false]);
});

test("bytes that were held go on, none lost", async () => {
  const client = await dial();
  proxy.set({ kind: "hold" });
  client.socket.write("abc");
  await sleep(20);
  expect(echoed).toBe("");
  proxy.heal();
  await until(() => client.heard() === "abc");
});

test("a connection is cut after so many bytes of a reply, and the next one is not", async () => {
  const client = await dial();
  proxy.set({ kind: "cut-after", bytes: 4 }, "down");
  client.socket.write("a long reply");
  await until(() => client.closed());
  expect([client.heard(), echoed]).toEqual(["a lo", "a long reply"]);
  const next = await dial();
  next.socket.write("again");
  await until(() => next.heard() === "again");
});

test("late bytes keep their order when the delay shrinks", async () => {
  const client = await dial();
  proxy.set({ kind: "delay", delayMs: 40 }, "up");
  const sentAt = performance.now();
  client.socket.write("first ");
  await sleep(5);
  proxy.set({ kind: "delay", delayMs: 1 }, "up");
  client.socket.write("second");
  await until(() => client.heard() === "first second");
  expect(performance.now() - sentAt).toBeGreaterThan(39);
});

test("refused connections end at once, until it heals", async () => {
  const client = await dial();
  proxy.refuse();
  await until(() => client.closed());
  const refused = connect(proxy.port, proxy.host).on("error", () => {});
  await new Promise((resolve) => refused.on("close", resolve));
  proxy.heal();
  const served = await dial();
  served.socket.write("x");
  await until(() => served.heard() === "x");
  expect(echoed).toBe("x");
});

test("a cut ends also connections that a client has just ended", async () => {
  for (let round = 0; round < 10; round++) {
    const client = await dial();
    client.socket.write("x");
    await until(() => client.heard() === "x");
    client.socket.end();
    await sleep(0);
    proxy.cut();
  }
  await until(() => proxy.connections === 0);
  expect(proxy.connections).toBe(0);
});
