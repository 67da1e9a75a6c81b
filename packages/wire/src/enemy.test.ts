import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Random } from "@keelson/kernel";
import { parseAddress } from "./address.ts";
import { WireClient } from "./client/client.ts";
import { realClock, seededRandom } from "./fixtures/clock.ts";
import { LOOPBACK, until } from "./fixtures/rig.ts";
import { encodeFrame, encodeValue } from "./frame/codec.ts";
import { KIND } from "./frame/frame.ts";
import { encodeHello } from "./frame/hello.ts";
import { WireServer } from "./server/server.ts";

/** Bytes that no client of ours would send. Whatever they are, they cost their own connection at most. */
const hello = encodeHello({ min: 1, max: 1, minor: 0, name: "enemy", token: undefined });
const ends: string[] = [];
let server: WireServer;
let friend: WireClient;

beforeAll(async () => {
  server = new WireServer({
    clock: realClock,
    name: "server",
    limits: { frameBytesMax: 100_000 },
    onConnectionEnd: (_, reason) => ends.push(reason.message),
  });
  server.method("echo", ({ body }) => body).stream("feed", (stream) => stream.closed());
  await server.listen(LOOPBACK);
  friend = new WireClient(server.address, { clock: realClock, random: seededRandom(1), name: "friend" });
});

afterAll(async () => {
  friend.close();
  await server.close({ graceMs: 0 });
});

async function attack(bytes: Buffer): Promise<Buffer> {
  const socket: Socket = connect(parseAddress(server.address));
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  socket.end(bytes);
  await new Promise<void>((resolve) => socket.on("error", () => resolve()).on("close", () => resolve()));
  return Buffer.concat(received);
}

async function expectFriendServed(): Promise<void> {
  expect(await friend.call("echo", "still here", { timeoutMs: 2_000 })).toBe("still here");
}

const request = encodeFrame(
  { kind: KIND.request, id: 1, method: "echo", timeoutMs: 1_000, body: "x".repeat(50), trace: undefined },
  1_000,
);

test.each([
  ["another protocol", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "keelson frames only"],
  ["a request before the hello", Buffer.concat([Buffer.from("KEEL"), request]), "must be a hello"],
  [
    "a hello of another shape",
    Buffer.concat([Buffer.from("KEEL"), encodeValue([0, 5], 100)]),
    "must be a hello",
  ],
  ["a hello with no version", Buffer.concat([Buffer.from("KEEL"), encodeValue([0, {}], 100)]), "min and max"],
  [
    "a hello that announces megabytes",
    Buffer.from("KEEL\u0000\u0010\u0000\u0000", "latin1"),
    "1048576 bytes",
  ],
  [
    "a version from another time",
    encodeHello({ min: 9, max: 12, minor: 0, name: "x", token: undefined }),
    "VERSION",
  ],
  ["a second hello", Buffer.concat([hello, hello.subarray(4)]), "second hello"],
  ["a frame that is too large", Buffer.concat([hello, Buffer.from([0x7f, 0, 0, 0])]), "more than the 100000"],
  ["a frame that is no list", Buffer.concat([hello, encodeValue({ a: 1 }, 100)]), "must be a list"],
  [
    "a frame of an answering side",
    Buffer.concat([hello, encodeValue([2, 1, 1], 100)]),
    "may not send frames of kind 2",
  ],
  ["one id twice", Buffer.concat([hello, request, request]), "already in flight"],
  ["an empty frame", Buffer.concat([hello, Buffer.alloc(4)]), "beyond the end"],
])("%s ends only that connection, and says why", async (_, bytes, why) => {
  const answer = await attack(bytes);
  expect(answer.toString("latin1", 0, 4)).toBe("KEEL");
  expect(answer.toString("latin1")).toContain(why);
  await expectFriendServed();
});

test("unknown kinds and fields do not end a connection", async () => {
  const answer = await attack(
    Buffer.concat([
      hello,
      encodeValue([77, 1], 100),
      encodeValue([1, 5, "echo", 100, "yes!", "t", "new"], 100),
    ]),
  );
  expect(answer.toString("latin1")).toContain("yes!");
});

test("thousands of random frames leave the server as it was (seed 20)", async () => {
  const random = seededRandom(20);
  for (let connection = 0; connection < 150; connection += 1) {
    const frames = Array.from({ length: 20 }, () => randomFrame(random));
    await attack(Buffer.concat([random() < 0.95 ? hello : Buffer.alloc(0), ...frames]));
  }
  await expectFriendServed();
  await until("only the friend is left", () => server.stats.connections === 1 && server.stats.inflight === 0);
  expect(ends.length).toBeGreaterThanOrEqual(150);
});

/** Mostly near misses: a good frame with bytes changed, a frame of random fields, or noise behind a good length. */
function randomFrame(random: Random): Buffer {
  const pick = random();
  if (pick < 0.4) {
    const bytes = Buffer.from(request);
    const from = random() < 0.2 ? 0 : 4;
    const changes = 1 + Math.floor(random() * 3);
    for (let i = 0; i < changes; i += 1) {
      bytes[from + Math.floor(random() * (bytes.length - from))] = Math.floor(random() * 256);
    }
    return bytes;
  }
  if (pick < 0.8) {
    const size = Math.floor(random() * 7);
    return Buffer.from(
      encodeValue(
        [Math.floor(random() * 14), ...Array.from({ length: size }, () => randomField(random))],
        10_000,
      ),
    );
  }
  const noise = Buffer.from(
    Array.from({ length: Math.floor(random() * 40) }, () => Math.floor(random() * 256)),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(noise.length);
  return Buffer.concat([length, noise]);
}

function randomField(random: Random): unknown {
  const fields = [
    0,
    1,
    2,
    -1,
    1.5,
    1e300,
    2 ** 53,
    "echo",
    "feed",
    "",
    "x".repeat(300),
    null,
    undefined,
    true,
    [],
    [[]],
    {},
    { a: [1] },
    new Date(0),
    Buffer.alloc(3),
    5n,
  ];
  return fields[Math.floor(random() * fields.length)];
}
