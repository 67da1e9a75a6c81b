import { describe, expect, test } from "vitest";
import type { ManyReply, NodeManyRequest, NodeReply, NodeRequest } from "@keelson/kernel";
import { WirePool } from "../client/pool.ts";
import { realClock, seededRandom } from "../fixtures/clock.ts";
import { LOOPBACK, rejection, Rig, sleep, until } from "../fixtures/rig.ts";
import { serveNode, serveNodeMany, serveNodeStreams } from "./serve-node.ts";
import { WireTransport } from "./transport.ts";

const rig = new Rig();
const options = { timeoutMs: 2_000 };
const request: NodeRequest = {
  service: "jobs",
  shard: "7",
  replica: 1,
  method: "get",
  mode: "read",
  body: { key: "k" },
  timeoutMs: 1_500,
  trace: "00-ab-01",
};

function newTransport(): { transport: WireTransport; pool: WirePool } {
  const pool = new WirePool({ clock: realClock, random: seededRandom(1), name: "router" });
  rig.onEnd(() => pool.close());
  return { transport: new WireTransport(pool), pool };
}

test("a node's reply of whatever kind resolves", async () => {
  const server = rig.server();
  const seen: NodeRequest[] = [];
  const replies: NodeReply[] = [
    { kind: "ok", epoch: { era: 2, revision: 9 }, body: { v: 1 } },
    { kind: "not-owner", hint: { node: "b", address: "10.0.0.2:1" } },
    { kind: "error", code: "NO_KEY", message: "no such key" },
  ];
  serveNode(server, async (arrived) => {
    seen.push(arrived);
    return replies[seen.length - 1]!;
  });
  await server.listen(LOOPBACK);
  const { transport } = newTransport();
  for (const reply of replies) expect(await transport.call(server.address, request, options)).toEqual(reply);
  expect(seen).toEqual([request, request, request]);
});

test("what wire itself answers is a reply too; only silence is an error", async () => {
  const server = rig.server({ limits: { inflightPerConnectionMax: 1 } });
  serveNode(server, async ({ method }) => {
    if (method === "throw") throw new Error("bug");
    await sleep(20);
    return { kind: "not-owner" };
  });
  await server.listen(LOOPBACK);
  const { transport } = newTransport();
  const both = [request, request].map((each) => transport.call(server.address, each, options));
  expect(await Promise.all(both)).toEqual([
    { kind: "not-owner" },
    { kind: "overloaded", reason: "1 calls in flight on this connection" },
  ]);
  expect(await transport.call(server.address, { ...request, method: "throw" }, options)).toEqual({
    kind: "error",
    code: "INTERNAL",
    message: "Error: bug",
  });
  expect(await rejection(transport.call("127.0.0.1:1", request, options))).toMatchObject({
    name: "TransportError",
    code: "UNREACHABLE",
  });
});

test("a request of the wrong shape is answered with BAD_REQUEST and does not reach the node", async () => {
  const server = rig.server();
  let reached = 0;
  serveNode(server, async () => {
    reached += 1;
    return { kind: "not-owner" };
  });
  await server.listen(LOOPBACK);
  const { pool } = newTransport();
  for (const body of [null, 5, "x", {}, [], ["jobs", 7]]) {
    expect((await rejection(pool.call(server.address, "request", body, options))).code).toBe("BAD_REQUEST");
  }
  expect(reached).toBe(0);
});

test("the node hears when the caller no longer waits", async () => {
  const server = rig.server();
  let heard = 0;
  serveNode(server, async (_, signal) => {
    expect(signal.aborted).toBe(false);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    if (signal.aborted) heard += 1;
    return { kind: "not-owner" };
  });
  await server.listen(LOOPBACK);
  const { transport } = newTransport();
  expect((await rejection(transport.call(server.address, request, { timeoutMs: 30 }))).code).toBe("TIMEOUT");
  await until("the node hears", () => heard === 1);
});

test("a node that is closing cannot be reached, for streams and for many shards at once", async () => {
  const server = rig.server();
  let opened = 0;
  const never = new Promise<never>(() => undefined);
  serveNodeStreams(server, () => {
    opened += 1;
    return never;
  });
  serveNodeMany(server, () => {
    opened += 1;
    return never;
  });
  await server.listen(LOOPBACK);
  const { transport } = newTransport();
  const { shard, replica, ...common } = request;
  const replies = transport.many(server.address, { ...common, replicas: [{ shard, replica }] }, options);
  const failures = [
    rejection(transport.stream(server.address, request, options)),
    rejection(replies[Symbol.asyncIterator]().next()),
  ];
  await until("both are open", () => opened === 2);
  const closing = server.close({ graceMs: 1_000 });
  for (const failure of failures)
    expect(await failure).toMatchObject({ name: "TransportError", code: "UNREACHABLE" });
  await closing;
});

test("a body that is too large is answered for streams and many shards as it is for a call", async () => {
  const server = rig.server();
  await server.listen(LOOPBACK);
  const { transport } = newTransport();
  const { shard, replica, ...common } = { ...request, body: Buffer.alloc(20 << 20) };
  const tooLarge = { kind: "error", code: "TOO_LARGE" };
  const { reply } = await transport.stream(server.address, { ...common, shard, replica }, options);
  expect(reply).toMatchObject(tooLarge);
  const many = transport.many(server.address, { ...common, replicas: [{ shard, replica }] }, options);
  expect((await many.next()).value).toMatchObject({ at: 0, reply: tooLarge });
});

describe("one request of many shards", () => {
  const { shard: _, replica: __, ...common } = request;
  const manyOf = (count: number): NodeManyRequest => ({
    ...common,
    replicas: Array.from({ length: count }, (_, i) => ({ shard: `s${i}`, replica: i % 2 })),
  });
  const read = async (replies: AsyncIterable<ManyReply>): Promise<ManyReply[]> => {
    const found: ManyReply[] = [];
    for await (const each of replies) found.push(each);
    return found.sort((a, b) => a.at - b.at);
  };

  test("reaches the node as one request each, and each is answered, one that fails too", async () => {
    const server = rig.server();
    const seen: NodeRequest[] = [];
    serveNodeMany(server, async (arrived) => {
      seen.push(arrived);
      if (arrived.shard === "s7") throw new Error("bug");
      // What comes first need not be done first.
      if (arrived.shard === "s0") await sleep(20);
      return { kind: "ok", epoch: { era: 1, revision: 3 }, body: arrived.shard };
    });
    await server.listen(LOOPBACK);
    const { transport } = newTransport();
    const replies = await read(transport.many(server.address, manyOf(300), options));
    expect(replies.map(({ at }) => at)).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(replies[7]?.reply).toEqual({ kind: "error", code: "INTERNAL", message: "Error: bug" });
    expect(replies[9]?.reply).toEqual({ kind: "ok", epoch: { era: 1, revision: 3 }, body: "s9" });
    expect(seen.find(({ shard }) => shard === "s9")).toEqual({
      ...request,
      shard: "s9",
      replica: 1,
      left: expect.any(Promise) as unknown,
    });
  });

  test("waits for a slow reader instead of filling memory", async () => {
    const server = rig.server();
    let answered = 0;
    serveNodeMany(server, async () => {
      answered++;
      return { kind: "ok", epoch: { era: 1, revision: 3 }, body: Buffer.alloc(1 << 20) };
    });
    await server.listen(LOOPBACK);
    const { transport } = newTransport();
    const replies = transport.many(server.address, manyOf(400), options)[Symbol.asyncIterator]();
    expect((await replies.next()).value).toMatchObject({ reply: { kind: "ok" } });
    await sleep(300);
    const ahead = answered;
    expect(ahead).toBeLessThan(400);
    for (let left = 399; left > 0; left--) expect((await replies.next()).done).toBe(false);
    expect((await replies.next()).done).toBe(true);
  }, 30_000);

  test.each(["reads them all", "leaves"])(
    "tells the node of each answer that it has left, when the reader %s",
    async (what) => {
      const server = rig.server();
      let answered = 0;
      let gone = 0;
      serveNodeMany(server, async ({ left }) => {
        answered++;
        void left?.then(() => gone++);
        return { kind: "ok", epoch: { era: 1, revision: 3 }, body: "an answer" };
      });
      await server.listen(LOOPBACK);
      const { transport } = newTransport();
      const leaving = new AbortController();
      const asked = { ...manyOf(400), signal: leaving.signal };
      const replies = transport.many(server.address, asked, options)[Symbol.asyncIterator]();
      expect((await replies.next()).value).toMatchObject({ reply: { kind: "ok" } });
      // Nobody reads on: when as many are on the way as the reader lets be, the others wait.
      await until("answers wait for the reader", () => answered > 300 && answered - gone > 30);
      if (what === "leaves") leaving.abort();
      let step = await replies.next().catch(() => undefined);
      while (step?.done === false) step = await replies.next().catch(() => undefined);
      await until("all have left", () => gone === answered);
    },
    30_000,
  );

  test("an answer that cannot be sent is told, and takes no other with it", async () => {
    const server = rig.server();
    serveNodeMany(server, async ({ shard }) => ({
      kind: "ok",
      epoch: { era: 1, revision: 3 },
      body: shard === "s1" ? { bytes: Buffer.alloc(17 << 20) } : shard === "s2" ? Symbol("no data") : shard,
    }));
    await server.listen(LOOPBACK);
    const { transport } = newTransport();
    const replies = await read(transport.many(server.address, manyOf(4), options));
    const byShard = replies.sort((a, b) => a.at - b.at).map(({ reply }) => reply);
    expect(byShard).toMatchObject([
      { kind: "ok", body: "s0" },
      { kind: "error", code: "TOO_LARGE" },
      { kind: "error", code: "UNENCODABLE" },
      { kind: "ok", body: "s3" },
    ]);
  });

  test("every large answer arrives as it was while nodes write the next into the same memory, whoever leaves or reads slowly", async () => {
    const server = rig.server();
    const bytes = 400_000;
    const spares: Buffer[] = [];
    let asked = 0;
    serveNodeMany(server, async ({ left }) => {
      const number = ++asked % 251;
      const own = spares.pop() ?? Buffer.alloc(bytes);
      own.fill(number);
      void left?.then(() => {
        // As a node does that packs its next answer here.
        own.fill(255);
        spares.push(own);
      });
      return { kind: "ok", epoch: { era: 1, revision: 3 }, body: { number, packed: own } };
    });
    await server.listen(LOOPBACK);
    const one = async (reader: number): Promise<number> => {
      const { transport } = newTransport();
      const leaving = new AbortController();
      let whole = 0;
      const exchange = { timeoutMs: 30_000, signal: leaving.signal };
      for await (const { reply } of transport.many(server.address, manyOf(12), exchange)) {
        if (reply.kind !== "ok") break;
        const { number, packed } = reply.body as { number: number; packed: Uint8Array };
        expect(Buffer.alloc(bytes, number).equals(packed)).toBe(true);
        whole++;
        if (reader % 3 === 1) await sleep(5);
        if (reader % 3 === 2 && whole === 5) leaving.abort();
      }
      return whole;
    };
    const read = await Promise.all(Array.from({ length: 9 }, (_, reader) => one(reader).catch(() => -1)));
    expect(read.filter((_, reader) => reader % 3 !== 2)).toEqual([12, 12, 12, 12, 12, 12]);
  }, 60_000);

  test("is refused whole when it cannot be read, and cut when the node is gone", async () => {
    const server = rig.server();
    serveNodeMany(server, async () => ({ kind: "not-owner" }));
    await server.listen(LOOPBACK);
    const { transport } = newTransport();
    const replies = await read(transport.many(server.address, { ...manyOf(2), method: "" }, options));
    expect(replies.map(({ reply }) => reply)).toMatchObject([
      { code: "BAD_REQUEST" },
      { code: "BAD_REQUEST" },
    ]);
    expect(await rejection(read(transport.many("127.0.0.1:1", manyOf(2), options)))).toMatchObject({
      name: "TransportError",
    });
  });
});
