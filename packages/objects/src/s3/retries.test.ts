import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realClock } from "../fixtures/real-clock.ts";
import { seal } from "../sealed/seal.ts";
import type { CredentialsSource } from "./credentials.ts";
import { S3Objects } from "./s3-objects.ts";

/** A server that answers as a test's script says, one line per request, and writes down what it was asked. */
type Reply =
  | number
  | "cut"
  | "hang"
  | { status: number; headers?: Record<string, string>; body?: string | Buffer };

let server: Server;
let script: (Reply | (() => Reply))[] = [];
let asked: string[] = [];
let objects: S3Objects;
const tokens: string[] = [];

function handle(request: IncomingMessage, response: ServerResponse): void {
  request.resume().on("end", () => {
    const next = script.shift() ?? 500;
    asked.push(`${request.method} ${request.url?.split("?")[0]}`);
    const token = request.headers["x-amz-meta-keelson-put"];
    if (typeof token === "string") tokens.push(token);
    const reply = typeof next === "function" ? next() : next;
    if (reply === "cut") request.socket.destroy();
    else if (reply !== "hang") {
      const { status, headers = {}, body = "" } = typeof reply === "number" ? { status: reply } : reply;
      response.writeHead(status, headers).end(body);
    }
  });
}

beforeEach(async () => {
  server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  [script, asked] = [[], []];
  tokens.length = 0;
  objects = open();
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await objects.close();
});

/** On a busy machine an answer may take a while: only tests of silence give a try less than ten seconds. */
function open(tryTimeoutMs = 10_000, credentials?: CredentialsSource, clock = realClock): S3Objects {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new S3Objects({
    address: { endpoint, region: "us-east-1", bucket: "b", pathStyle: true },
    credentials: credentials ?? (() => Promise.resolve({ accessKeyId: "id", secretAccessKey: "hunter2" })),
    clock,
    random: () => 0,
    tryTimeoutMs,
  });
}

const call = { timeoutMs: 15_000 };
const body = Buffer.from("x");
const error = (status: number, code: string) => ({
  status,
  body: `<Error><Code>${code}</Code><Message>a message</Message></Error>`,
});
/** The answer to a HEAD after the first put: it is there, and whose it is. */
const mine = (): Reply => ({
  status: 200,
  headers: { "content-length": `${seal(body).length}`, "x-amz-meta-keelson-put": tokens[0] ?? "" },
});

describe("reads are sent again", () => {
  test.each([["cut" as const], [500], [503], [429]])("after %s", async (reply) => {
    script = [reply, reply, { status: 200, body: seal(Buffer.from("text")) }];
    expect((await objects.get("k", call))?.bytes.toString()).toBe("text");
    expect(asked).toEqual(["GET /b/k", "GET /b/k", "GET /b/k"]);
  });

  test("on another connection when no answer comes", async () => {
    script = ["hang", { status: 200, body: seal(Buffer.from("text")) }];
    const impatient = open(300);
    script.push(script[1]!, script[1]!);
    expect((await impatient.get("k", call))?.bytes.toString()).toBe("text");
    await impatient.close();
  });

  test("but not after an answer that would be the same", async () => {
    script = [error(400, "InvalidArgument")];
    await expect(objects.get("k", call)).rejects.toMatchObject({
      code: "OBJECT_REJECTED",
      message: expect.stringMatching(
        /^get of "k" was rejected by .* \(400 InvalidArgument\): a message$/,
      ) as unknown,
    });
    expect(asked).toHaveLength(1);
  });

  test("a limited number of times, and the last failure is told", async () => {
    script = Array<Reply>(20).fill(error(503, "SlowDown"));
    const hasty = open(100_000, undefined, {
      ...realClock,
      after: (delayMs, run) => realClock.after(delayMs / 50, run),
    });
    await expect(hasty.get("k", { timeoutMs: 1_000_000 })).rejects.toMatchObject({
      code: "OBJECT_UNAVAILABLE",
      message: expect.stringContaining("503 SlowDown") as unknown,
    });
    expect(asked).toHaveLength(8);
    await hasty.close();
  });

  test("until the deadline, and the last failure is told", async () => {
    script = Array<Reply>(20).fill(500);
    await expect(objects.get("k", { timeoutMs: 600 })).rejects.toMatchObject({
      code: "OBJECT_UNAVAILABLE",
      message: expect.stringMatching(/did not end within 600 ms; the last try: .*500/) as unknown,
    });
  });
});

describe("a put", () => {
  test.each([[500], [503]])("is sent again after the server itself said %s", async (reply) => {
    script = [reply, 200];
    await objects.put("k", body, call);
    expect(asked).toEqual(["PUT /b/k", "PUT /b/k"]);
  });

  test.each([["cut" as const], [502], [504]])("is not sent again after %s, and unknown", async (reply) => {
    script = [reply, 404];
    await expect(objects.put("k", body, call)).rejects.toMatchObject({ code: "OBJECT_UNKNOWN" });
    expect(asked).toEqual(["PUT /b/k", "HEAD /b/k"]);
  });

  test("whose answer was lost is done when the object bears its token", async () => {
    script = ["cut", mine];
    await objects.put("k", body, call);
    expect(asked).toEqual(["PUT /b/k", "HEAD /b/k"]);
  });

  test("without an answer is unknown at its deadline", async () => {
    script = ["hang"];
    await expect(objects.put("k", body, { timeoutMs: 100 })).rejects.toMatchObject({
      code: "OBJECT_UNKNOWN",
    });
    expect(asked).toEqual(["PUT /b/k"]);
  });

  test("that the server refused for good is not unknown", async () => {
    script = [error(403, "AccessDenied"), error(403, "AccessDenied")];
    await expect(objects.put("k", body, call)).rejects.toMatchObject({ code: "OBJECT_DENIED" });
  });
});

describe("put-if-absent", () => {
  test("that is refused at once is somebody else's, without another question", async () => {
    script = [412];
    expect(await objects.putIfAbsent("k", body, call)).toEqual({ kind: "exists" });
    expect(asked).toEqual(["PUT /b/k"]);
  });

  test.each([["cut" as const], [500]])(
    "is sent again after %s, and is ours when the token says so",
    async (reply) => {
      script = [reply, 412, mine];
      expect(await objects.putIfAbsent("k", body, call)).toEqual({ kind: "created" });
      expect(asked).toEqual(["PUT /b/k", "PUT /b/k", "HEAD /b/k"]);
      expect(tokens[0]).toBe(tokens[1]);
    },
  );

  test("is sent again when no answer comes, with the same token", async () => {
    script = ["hang", 412, mine];
    const impatient = open(1_000);
    expect(await impatient.putIfAbsent("k", body, call)).toEqual({ kind: "created" });
    expect(tokens[0]).toBe(tokens[1]);
    await impatient.close();
  });

  test("that was refused after an unseen end, by another's object, is another's", async () => {
    script = [
      "cut",
      412,
      { status: 200, headers: { "content-length": "9", "x-amz-meta-keelson-put": "other" } },
    ];
    expect(await objects.putIfAbsent("k", body, call)).toEqual({ kind: "exists" });
  });

  test("is unknown when the end was never seen", async () => {
    script = ["hang", "hang", "hang", "hang"];
    await expect(objects.putIfAbsent("k", body, { timeoutMs: 250 })).rejects.toMatchObject({
      code: "OBJECT_UNKNOWN",
    });
  });

  test("that never left is not unknown", async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(objects.putIfAbsent("k", body, { timeoutMs: 1_000 })).rejects.toMatchObject({
      code: "OBJECT_UNAVAILABLE",
      message: expect.stringContaining("ECONNREFUSED") as unknown,
    });
  });
});

describe("answers", () => {
  test.each([
    ["NoSuchBucket", 404, /there is no bucket "b"; create it/],
    ["InvalidAccessKeyId", 403, /check AWS_ACCESS_KEY_ID/],
    ["SignatureDoesNotMatch", 403, /check AWS_SECRET_ACCESS_KEY and the region \(us-east-1\)/],
    ["ExpiredToken", 400, /renew the credentials/],
    ["RequestTimeTooSkewed", 403, /set the clock/],
    ["PermanentRedirect", 301, /is not in region us-east-1/],
    ["AccessDenied", 403, /that it may read, write and list bucket "b"/],
  ])("%s says what to check", async (code, status, message) => {
    script = [error(status, code), error(status, code)];
    const listing = objects.list("", call);
    await expect(listing).rejects.toMatchObject({ code: "OBJECT_DENIED" });
    await expect(listing).rejects.toThrow(message);
    await expect(listing).rejects.not.toThrow(/hunter2|\n/);
  });

  test("a page that is no S3 answer is told as such", async () => {
    script = [{ status: 200, body: "<html><body>Welcome to nginx</body></html>" }];
    await expect(objects.list("", call)).rejects.toThrow(/not what an S3 server says; check the endpoint/);
  });

  test("a deletion that failed in part is an error that names a key", async () => {
    script = [
      {
        status: 200,
        body: "<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code></Error></DeleteResult>",
      },
    ];
    await expect(objects.delete(["j", "k"], call)).rejects.toMatchObject({
      code: "OBJECT_DENIED",
      message: expect.stringContaining('"k"') as unknown,
    });
  });

  test("credentials that were refused are read again, once", async () => {
    const given = ["old", "new", "newer"];
    const read: string[] = [];
    const client = open(undefined, () => {
      read.push(given[read.length] ?? "");
      return Promise.resolve({ accessKeyId: read.at(-1)!, secretAccessKey: "s" });
    });
    script = [error(403, "InvalidAccessKeyId"), 404];
    expect(await client.head("k", call)).toBeUndefined();
    script = [404, error(403, "InvalidAccessKeyId"), error(403, "InvalidAccessKeyId")];
    await client.head("k", call);
    await expect(client.head("k", call)).rejects.toMatchObject({ code: "OBJECT_DENIED" });
    expect(read).toEqual(["old", "new", "newer"]);
    await client.close();
  });
});
