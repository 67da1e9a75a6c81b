import { createServer, type AddressInfo } from "node:net";
import { TcpProxy } from "@keelson/testkit";
import { startCephRgw, type S3TestServer } from "@keelson/testkit/servers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { journalContract, objectContract, type ObjectHarness } from "../contract-suite/index.ts";
import { realClock } from "../fixtures/real-clock.ts";
import { TestBucket } from "../fixtures/test-bucket.ts";
import { openObjects } from "../open.ts";
import { S3Objects } from "./s3-objects.ts";

let server: S3TestServer;
let bucket: TestBucket;

beforeAll(async () => {
  server = await startCephRgw();
  bucket = await TestBucket.create(server, "contract");
}, 120_000);
afterAll(async () => {
  await bucket?.close();
  await server?.stop();
});

let harnesses = 0;

async function openHarness(): Promise<ObjectHarness> {
  harnesses += 1;
  const prefix = `${harnesses}/`;
  const [objects, second] = [bucket.open({ prefix }), bucket.open({ prefix })];
  const close: (() => Promise<void>)[] = [() => objects.close(), () => second.close()];
  return {
    objects,
    second,
    damage: (key, at) => bucket.damage(prefix + key, at),
    /** It accepts connections and reads what comes, and that is all. */
    async silent() {
      const hole = createServer((socket) => void socket.resume().on("error", () => {}));
      await new Promise<void>((resolve) => hole.listen(0, "127.0.0.1", resolve));
      const endpoint = `http://127.0.0.1:${(hole.address() as AddressInfo).port}`;
      const deaf = new S3Objects({
        address: { ...bucket.address, endpoint },
        credentials: bucket.credentials,
        clock: realClock,
        random: Math.random,
      });
      close.push(async () => {
        await deaf.close();
        hole.close();
      });
      return deaf;
    },
    async close() {
      await Promise.all(close.map((each) => each()));
    },
  };
}

objectContract("objects in S3 (Ceph RGW)", openHarness);

journalContract("a journal in S3 (Ceph RGW)", async () => {
  harnesses += 1;
  return bucket.open({ prefix: `journals/${harnesses}/` });
});

const call = { timeoutMs: 20_000 };
const MIB = 1024 * 1024;

describe("opening a bucket", () => {
  const open = (bucketName: string, secret: string, id = server.accessKeyId) =>
    openObjects(`s3://${bucketName}/opened?endpoint=${server.url}`, {
      clock: realClock,
      random: Math.random,
      environment: { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret },
    });

  test("works with the right credentials", async () => {
    const objects = await open("contract", server.secretAccessKey);
    await objects.put("a", Buffer.from("one"), call);
    expect(objects.place).toBe(`s3://contract/opened/ at ${server.url}`);
    expect((await bucket.ask({ method: "HEAD", key: "opened/a" }, 200)).headers["content-length"]).toBe("11");
    await objects.close();
  });

  test("says what to check when they are wrong, and never repeats them", async () => {
    const refused = async (opening: Promise<unknown>, check: RegExp): Promise<void> => {
      await expect(opening).rejects.toMatchObject({ code: "OBJECT_DENIED" });
      await expect(opening).rejects.toThrow(check);
      await expect(opening).rejects.not.toThrow(/hunter2|\n/);
    };
    await refused(open("contract", "hunter2"), /check AWS_SECRET_ACCESS_KEY/);
    await refused(open("contract", "hunter2", "nobody"), /check AWS_ACCESS_KEY_ID/);
    await refused(
      open("no-such-bucket", server.secretAccessKey),
      /there is no bucket "no-such-bucket"; create it/,
    );
    await server.createUser("stranger", "hunter2");
    await refused(open("contract", "hunter2", "stranger"), /may read, write and list bucket "contract"/);
  });
});

describe("behind a bad network", () => {
  let proxy: TcpProxy;
  let objects: S3Objects;
  beforeEach(async () => {
    proxy = await TcpProxy.open(server.port);
    objects = bucket.open({ prefix: `bad/${proxy.port}/`, port: proxy.port, tryTimeoutMs: 700 });
  });
  afterEach(async () => {
    proxy.heal();
    await objects.close();
    await proxy.close();
  });

  /** Swallows answers until the server has applied what was sent. */
  async function loseAnswer(applied: () => Promise<boolean>): Promise<void> {
    proxy.set({ kind: "swallow" }, "down");
    while (!(await applied())) await new Promise((resolve) => setTimeout(resolve, 10));
    proxy.heal();
  }
  const isThere = (key: string) => async () =>
    (await bucket.ask({ method: "HEAD", key: `bad/${proxy.port}/${key}` }, 200, 404)).status === 200;

  test("a put-if-absent whose answer was lost was ours, and a later one was not", async () => {
    const put = objects.putIfAbsent("a", Buffer.from("x"), call);
    await loseAnswer(isThere("a"));
    expect(await put).toEqual({ kind: "created" });
    expect(await objects.putIfAbsent("a", Buffer.from("x"), call)).toEqual({ kind: "exists" });
  });

  test("a put-if-absent that did not get through lost to one that did", async () => {
    proxy.set({ kind: "swallow" }, "up");
    const put = objects.putIfAbsent("a", Buffer.from("same"), call);
    const rival = bucket.open({ prefix: `bad/${proxy.port}/` });
    expect(await rival.putIfAbsent("a", Buffer.from("same"), call)).toEqual({ kind: "created" });
    proxy.heal();
    expect(await put).toEqual({ kind: "exists" });
    await rival.close();
  });

  test("a put whose connection was cut after it arrived is known to be done", async () => {
    const put = objects.put("a", Buffer.from("x"), call);
    await loseAnswer(isThere("a"));
    expect(await put).toBeUndefined();
  });

  test("a put into a black hole is unknown at its deadline, not before and not later", async () => {
    proxy.blackHole();
    const startedAt = performance.now();
    await expect(objects.put("a", Buffer.from("x"), { timeoutMs: 400 })).rejects.toMatchObject({
      code: "OBJECT_UNKNOWN",
    });
    expect(performance.now() - startedAt).toBeGreaterThan(395);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  test("an answer that is cut in the middle is asked for again", async () => {
    await objects.put("a", Buffer.alloc(200_000, 7), call);
    proxy.set({ kind: "cut-after", bytes: 100_000 }, "down");
    expect((await objects.get("a", call))?.bytes.equals(Buffer.alloc(200_000, 7))).toBe(true);
  });

  test("a stream waits for the network instead of filling memory, and leaves no parts when it is ended", async () => {
    let pulled = 0;
    const source = async function* (): AsyncGenerator<Uint8Array> {
      for (; pulled < 100; pulled += 1) yield Buffer.alloc(MIB, pulled);
    };
    const uploads = async (): Promise<string> =>
      (await bucket.ask({ method: "GET", key: "", query: { uploads: "" } }, 200)).body.toString();
    const abort = new AbortController();
    const patient = bucket.open({ prefix: `bad/${proxy.port}/`, port: proxy.port, tryTimeoutMs: 60_000 });
    // The upload begins, and then nothing gets through any more.
    proxy.set({ kind: "delay", delayMs: 1 });
    const put = patient.putStream("large", source(), { timeoutMs: 60_000, signal: abort.signal });
    while (!(await uploads()).includes("large")) await new Promise((resolve) => setTimeout(resolve, 10));
    proxy.set({ kind: "hold" });
    let before = -1;
    while (before !== pulled) {
      before = pulled;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    // Parts that arrived before the hold, three under way, one that fills.
    expect(pulled).toBeLessThan(100);
    abort.abort();
    await expect(put).rejects.toMatchObject({ code: "OBJECT_ABORTED" });
    proxy.heal();
    await patient.close();
    expect(await uploads()).not.toContain("<UploadId>");
    expect(await isThere("large")()).toBe(false);
  });

  test("calls go on after the gateway was killed and started again", async () => {
    await objects.put("a", Buffer.from("one"), call);
    await server.kill("SIGKILL");
    const got = objects.get("a", call);
    const created = objects.putIfAbsent("b", Buffer.from("two"), call);
    await server.restart();
    expect((await got)?.bytes.toString()).toBe("one");
    expect(await created).toEqual({ kind: "created" });
  });
});
