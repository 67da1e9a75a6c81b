import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { UnreadAnswers } from "./unread-answers.ts";

/** More than the system keeps for a connection by itself. */
const LARGE = Buffer.alloc(32 << 20, 97);
const WITHIN_MS = 20_000;
const server = createServer();
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.removeAllListeners("request");
  server.closeAllConnections();
  server.close();
});

/** A server that answers with `LARGE`, and the answers that it gave. */
async function serving(unread: UnreadAnswers): Promise<{ given: ServerResponse[] }> {
  const given: ServerResponse[] = [];
  server.on("request", (_request, response) => {
    response.end(LARGE);
    unread.given(response);
    given.push(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { given };
}

/** Asks, and reads nothing of the answer. */
async function asker(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  return socket;
}

async function until(what: () => boolean): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  while (!what()) {
    if (performance.now() > end) throw new Error(`not within ${WITHIN_MS} ms`);
    await new Promise((resolve) => void setTimeout(resolve, 5));
  }
}

test("who takes nothing of an answer is let go, and nothing of it is kept", async () => {
  const unread = new UnreadAnswers({ bytesMax: 1 << 30, stallMs: 200, dropped: () => undefined });
  const { given } = await serving(unread);
  await asker();
  await until(() => given.length === 1);
  expect(unread.bytes).toBeGreaterThan(1 << 20);
  await until(() => given[0]!.destroyed);
  expect(unread.bytes).toBe(0);
});

test("when too much waits, who has been at it longest is let go first", async () => {
  let dropped = 0;
  const unread = new UnreadAnswers({ bytesMax: 80 << 20, stallMs: 600_000, dropped: () => dropped++ });
  const { given } = await serving(unread);
  for (let i = 1; i <= 5; i++) {
    await asker();
    await until(() => given.length === i);
    expect(unread.bytes).toBeLessThanOrEqual(80 << 20);
  }
  expect(given.map(({ destroyed }) => destroyed)).toEqual([true, true, true, false, false]);
  expect(dropped).toBe(3);
});

test("the reader of a stream that has taken all so far is not let go for others who take nothing", async () => {
  const unread = new UnreadAnswers({ bytesMax: 80 << 20, stallMs: 600_000, dropped: () => undefined });
  const given: ServerResponse[] = [];
  server.on("request", (_request, response) => {
    response.write(LARGE);
    unread.part(response);
    given.push(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const reader = await asker();
  await until(() => given.length === 1);
  reader.resume();
  await until(() => given[0]!.writableLength === 0);
  for (let i = 2; i <= 5; i++) {
    await asker();
    await until(() => given.length === i);
  }
  expect(given.map(({ destroyed }) => destroyed)).toEqual([false, true, true, false, false]);
});

test("who reads gets all, and is as free to ask again as before", async () => {
  const unread = new UnreadAnswers({ bytesMax: 1 << 30, stallMs: 60_000, dropped: () => undefined });
  await serving(unread);
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < 2; i++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect((await answer.arrayBuffer()).byteLength).toBe(LARGE.length);
  }
  await until(() => unread.bytes === 0);
});
