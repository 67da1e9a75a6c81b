/** gRPC over a real socket, against a small server of our own that does as each test says. */
import { TcpProxy } from "@keelson/testkit";
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clock, sleep } from "../../fixtures/real-clock.ts";
import { GrpcConnection } from "./connection.ts";
import { MESSAGE_BYTES_MAX, frame } from "./frame.ts";

let server: Http2Server;
let proxy: TcpProxy;
const sessions: ServerHttp2Session[] = [];
let answer: (stream: ServerHttp2Stream) => void;
const closings: string[] = [];
const connections: GrpcConnection[] = [];

beforeEach(async () => {
  closings.length = 0;
  server = createServer();
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    answer(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy = await TcpProxy.open((server.address() as AddressInfo).port);
});

afterEach(async () => {
  for (const connection of connections.splice(0)) connection.close("the test is over");
  for (const session of sessions.splice(0)) session.destroy();
  await proxy.close();
  server.close();
});

async function open(): Promise<GrpcConnection> {
  const connection = await GrpcConnection.open(
    { host: "127.0.0.1", port: proxy.port },
    clock,
    1_000,
    (reason) => closings.push(reason),
  );
  connections.push(connection);
  return connection;
}

/** Answers with a message and a status, as a gRPC server does. */
function reply(stream: ServerHttp2Stream, message: Buffer | undefined, status: number, text = ""): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": `${status}`, "grpc-message": text }));
  stream.end(message === undefined ? undefined : frame(message));
}

const call = (connection: GrpcConnection, timeoutMs = 1_000): Promise<Buffer> =>
  connection.unary("/a.B/C", Buffer.from("question"), timeoutMs, { token: "t" });

test("a call carries its message, its metadata and its deadline, and gets its reply", async () => {
  let asked = "";
  let headers = {};
  answer = (stream) => {
    stream.on("data", (chunk: Buffer) => (asked += chunk.subarray(5).toString()));
    stream.on("end", () => reply(stream, Buffer.from("reply"), 0));
  };
  server.on("stream", (_stream, each) => (headers = each));
  const connection = await open();
  expect((await call(connection, 950)).toString()).toBe("reply");
  expect(asked).toBe("question");
  expect(headers).toMatchObject({ ":path": "/a.B/C", token: "t", "grpc-timeout": "1000m", te: "trailers" });
});

test("a reply of several megabytes comes whole", async () => {
  const large = Buffer.alloc(5_000_000, "x");
  answer = (stream) => reply(stream, large, 0);
  expect((await call(await open())).equals(large)).toBe(true);
});

test("a status is an error with its message decoded", async () => {
  answer = (stream) => reply(stream, undefined, 5, "lease%20%C3%A9 not found");
  await expect(call(await open())).rejects.toMatchObject({
    code: 5,
    message: "lease é not found",
    sent: true,
  });
});

test("a status without any message before it is one too", async () => {
  answer = (stream) =>
    stream.respond({ ":status": 200, "grpc-status": "16", "grpc-message": "who" }, { endStream: true });
  await expect(call(await open())).rejects.toMatchObject({ code: 16, message: "who" });
});

test("a page of a web server is no reply", async () => {
  answer = (stream) => {
    stream.respond({ ":status": 404 });
    stream.end("<html>");
  };
  await expect(call(await open())).rejects.toThrow(/HTTP 404, so this is no gRPC server/);
});

test("a stream that the server refuses was not sent; one that it ends was", async () => {
  const connection = await open();
  answer = (stream) => stream.close(7);
  await expect(call(connection)).rejects.toMatchObject({ sent: false });
  answer = (stream) => stream.close(2);
  await expect(call(connection)).rejects.toMatchObject({ sent: true });
});

test("a call past its deadline ends its connection when nothing was heard, and not when others were answered", async () => {
  let stuck = 0;
  answer = (stream) => {
    if (stuck++ > 0) reply(stream, Buffer.from("x"), 0);
  };
  const busy = await open();
  const late = call(busy, 100).catch((error: unknown) => error);
  await call(busy);
  expect(await late).toMatchObject({ code: 4, sent: true });
  expect([busy.isClosed, closings]).toEqual([false, []]);
  answer = () => {};
  await expect(call(busy, 50)).rejects.toMatchObject({ code: 4 });
  expect(busy.isClosed).toBe(true);
  expect(closings).toEqual([expect.stringMatching(/nothing heard within 50 ms/)]);
  await expect(call(busy)).rejects.toMatchObject({ sent: false });
});

test("a connection that ends fails what was on its way as sent, and is reported once", async () => {
  answer = () => {};
  const connection = await open();
  const failing = call(connection).catch((error: unknown) => error);
  await sleep(20);
  proxy.cut();
  expect(await failing).toMatchObject({ code: 14, sent: true });
  await sleep(20);
  expect(closings).toHaveLength(1);
});

test("messages of a stream arrive in order, however they are cut up, and its end with its status", async () => {
  answer = (stream) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () =>
      stream.sendTrailers({ "grpc-status": "14", "grpc-message": "no leader" }),
    );
    const all = Buffer.concat(["one", "", "three"].map((text) => frame(Buffer.from(text))));
    void (async () => {
      for (const byte of all) {
        stream.write(Buffer.from([byte]));
        await sleep(1);
      }
      stream.end();
    })();
  };
  const connection = await open();
  const heard: string[] = [];
  await new Promise<void>((resolve) => {
    connection.stream(
      "/a.B/C",
      {},
      {
        message: (message) => void heard.push(message.toString()),
        ended: (error) => {
          heard.push(error?.message ?? "no error");
          resolve();
        },
      },
    );
  });
  expect(heard).toEqual(["one", "", "three", "no leader"]);
});

test("a message that is longer than the limit ends the stream before it is read", async () => {
  answer = (stream) => {
    stream.respond({ ":status": 200 });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(MESSAGE_BYTES_MAX + 1, 1);
    stream.write(head);
  };
  await expect(call(await open())).rejects.toThrow(/more than \d+/);
});

test("a port where nobody listens fails at once, as not sent", async () => {
  const empty = { host: "127.0.0.1", port: 1 };
  await expect(GrpcConnection.open(empty, clock, 500, () => {})).rejects.toMatchObject({
    sent: false,
    message: expect.stringMatching(/^127\.0\.0\.1:1: .*ECONNREFUSED/) as string,
  });
});
