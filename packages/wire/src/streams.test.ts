import { expect, test } from "vitest";
import type { StreamHandle, StreamSink } from "./client/incoming-stream.ts";
import type { WireClient } from "./client/client.ts";
import { WireFailure } from "./errors.ts";
import { LOOPBACK, Rig, sleep, until } from "./fixtures/rig.ts";
import type { OutgoingStream } from "./server/outgoing-stream.ts";

const rig = new Rig();

interface Reader {
  readonly items: unknown[];
  /** Resolves with "end" or the error. */
  readonly over: Promise<unknown>;
  readonly handle: StreamHandle;
}

function read(client: WireClient, method: string, take?: StreamSink["item"], windowItems = 256): Reader {
  const items: unknown[] = [];
  let finish: (how: unknown) => void = () => undefined;
  const over = new Promise((resolve) => {
    finish = resolve;
  });
  const sink: StreamSink = {
    item(body) {
      items.push(body);
      return take?.(body);
    },
    end: () => finish("end"),
    fail: finish,
  };
  return { items, over, handle: client.stream(method, { from: 0 }, sink, { windowItems }) };
}

test("every item arrives once, in order, and then the end", async () => {
  const server = rig.server().stream("count", async (stream) => {
    for (let n = 0; n < 5_000; n += 1) if (!stream.write(n)) await stream.ready();
  });
  await server.listen(LOOPBACK);
  const { items, over } = read(rig.client(server.address), "count");
  expect(await over).toBe("end");
  expect(items).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
});

test("a slow sink holds the server back: it is never more than a window and its own step ahead", async () => {
  let written = 0;
  let aheadMax = 0;
  let taken = 0;
  const server = rig.server().stream("count", async (stream) => {
    for (; written < 200; written += 1) {
      aheadMax = Math.max(aheadMax, written - taken);
      if (!stream.write(written)) await stream.ready();
    }
  });
  await server.listen(LOOPBACK);
  let taking = 0;
  const take = async (): Promise<void> => {
    taking += 1;
    expect(taking).toBe(1);
    await sleep(written % 10 === 0 ? 1 : 0);
    taking -= 1;
    taken += 1;
  };
  const { items, over } = read(rig.client(server.address), "count", take, 8);
  expect(await over).toBe("end");
  expect(items).toHaveLength(200);
  expect(aheadMax).toBeLessThanOrEqual(9);
});

test("a handler that ignores back-pressure fills its buffer, and then the stream ends with SLOW_CONSUMER", async () => {
  let aborted: OutgoingStream | undefined;
  const server = rig.server({ limits: { streamBufferItemsMax: 50 } });
  server.stream("flood", async (stream) => {
    for (let n = 0; n < 1_000; n += 1) stream.write(n);
    aborted = stream;
    await stream.closed();
  });
  await server.listen(LOOPBACK);
  const { items, over } = read(rig.client(server.address), "flood", () => sleep(1), 4);
  expect(await over).toMatchObject({ name: "WireFailure", code: "SLOW_CONSUMER" });
  expect(items).toEqual([0, 1, 2, 3]);
  expect(aborted?.signal.aborted).toBe(true);
});

test("large items count by their bytes", async () => {
  const server = rig.server({ limits: { streamBufferBytesMax: 100_000 } });
  server.stream("flood", async (stream) => {
    for (let n = 0; n < 20; n += 1) stream.write(Buffer.alloc(10_000));
    await stream.closed();
  });
  await server.listen(LOOPBACK);
  const { items, over } = read(rig.client(server.address), "flood", () => sleep(1), 4);
  expect(await over).toMatchObject({ code: "SLOW_CONSUMER" });
  expect(items.length).toBeLessThanOrEqual(4);
});

test("a socket that takes nothing holds a stream back, however much credit it has", async () => {
  let written = 0;
  const server = rig.server({ limits: { sendBufferBytesHigh: 65_536, streamBufferBytesMax: 10_000_000 } });
  server.stream("big", async (stream) => {
    for (; written < 2_000; written += 1) if (!stream.write(Buffer.alloc(20_000))) await stream.ready();
  });
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const client = rig.client(proxy.address);
  proxy.pause();
  const { items, over } = read(client, "big", undefined, 100_000);
  await sleep(0);
  proxy.unpause();
  await until("it flows", () => items.length > 0);
  proxy.pause();
  await sleep(100);
  const held = written;
  await sleep(50);
  expect(written).toBe(held);
  expect(held).toBeLessThan(2_000);
  proxy.unpause();
  expect(await over).toBe("end");
  expect(items).toHaveLength(2_000);
});

test("what a socket does not take counts against the stream's buffer, not against memory", async () => {
  const server = rig.server({ limits: { sendBufferBytesHigh: 65_536, streamBufferBytesMax: 1_000_000 } });
  server.stream("flood", async (stream) => {
    for (let n = 0; n < 1_000; n += 1) stream.write(Buffer.alloc(20_000));
    await stream.closed();
  });
  await server.listen(LOOPBACK);
  const { items, over } = read(rig.client(server.address), "flood", undefined, 100_000);
  expect(await over).toMatchObject({ code: "SLOW_CONSUMER" });
  expect(items.length).toBeLessThan(1_000);
});

test("closing a stream stops its handler, and nothing reaches the sink any more", async () => {
  let stopped = false;
  const server = rig.server().stream("tick", async (stream) => {
    while (await stream.ready()) {
      stream.write(1);
      await sleep(1);
    }
    stopped = true;
  });
  await server.listen(LOOPBACK);
  const { items, handle } = read(rig.client(server.address), "tick");
  await until("items come", () => items.length > 3);
  handle.close();
  const count = items.length;
  await until("the handler stops", () => stopped);
  expect(items).toHaveLength(count);
});

test("a handler's failure comes after the items that were sent before it", async () => {
  const server = rig.server().stream("break", async (stream) => {
    stream.write(1);
    stream.write(2);
    await stream.ready();
    throw new WireFailure("COMPACTED", "relist");
  });
  await server.listen(LOOPBACK);
  const { items, over } = read(rig.client(server.address), "break", () => sleep(5));
  expect(await over).toMatchObject({ code: "COMPACTED", message: "relist" });
  expect(items).toEqual([1, 2]);
});

test("a sink that throws ends its stream, and only that", async () => {
  let closed = 0;
  const server = rig
    .server()
    .stream("feed", async (stream) => {
      stream.write(1);
      await stream.closed();
      closed += 1;
    })
    .method("one", () => 1);
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const other = read(client, "feed");
  const sync = read(client, "feed", () => {
    throw new Error("full");
  });
  const later = read(client, "feed", () => Promise.reject(new Error("full later")));
  expect(await sync.over).toEqual(new Error("full"));
  expect(await later.over).toEqual(new Error("full later"));
  await until("both handlers stop", () => closed === 2);
  expect(await client.call("one", 0, { timeoutMs: 1_000 })).toBe(1);
  expect(other.items).toEqual([1]);
  other.handle.close();
});

test("a lost connection ends its streams with CUT", async () => {
  const server = rig.server().stream("feed", async (stream) => {
    stream.write(1);
    await stream.closed();
  });
  await server.listen(LOOPBACK);
  const proxy = await rig.proxy(server.address);
  const { items, over } = read(rig.client(proxy.address), "feed");
  await until("it flows", () => items.length === 1);
  proxy.cut();
  expect(await over).toMatchObject({ name: "TransportError", code: "CUT" });
});

test("a server that is not there fails the sink with UNREACHABLE, also while backing off", async () => {
  const client = rig.client("127.0.0.1:1");
  expect(await read(client, "feed").over).toMatchObject({ code: "UNREACHABLE" });
  expect(await read(client, "feed").over).toMatchObject({ code: "UNREACHABLE" });
});

test("streams beyond the bound are OVERLOADED, and closing one makes room", async () => {
  const server = rig.server({ limits: { streamsPerConnectionMax: 1 } }).stream("feed", async (stream) => {
    stream.write(1);
    await stream.closed();
  });
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  const first = read(client, "feed");
  expect(await read(client, "feed").over).toMatchObject({ code: "OVERLOADED" });
  first.handle.close();
  await sleep(20);
  const second = read(client, "feed");
  await until("it flows", () => second.items.length === 1);
  second.handle.close();
});

test("a stream asked for as a method, or the other way round, says so", async () => {
  const server = rig
    .server()
    .stream("feed", (stream) => stream.closed())
    .method("one", () => 1);
  expect(() => server.method("feed", () => 1)).toThrow(/already/);
  await server.listen(LOOPBACK);
  const client = rig.client(server.address);
  expect(await read(client, "one").over).toMatchObject({
    code: "NO_METHOD",
    message: 'no stream "one": it is a method',
  });
  await expect(client.call("feed", 0, { timeoutMs: 1_000 })).rejects.toMatchObject({
    code: "NO_METHOD",
    message: 'no method "feed": it is a stream',
  });
});
