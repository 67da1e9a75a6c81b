import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { request as tlsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Metadata, credentials, type ServiceError } from "@grpc/grpc-js";
import {
  AuditLog,
  createToken,
  tokensInStore,
  startGateway,
  tokensFromFile,
  tokensFromStore,
  writeTokenFile,
} from "@keelson/gateway";
import { OtlpExporter, SystemClock, Tracer, systemRandom } from "@keelson/runtime";
import { makeCertificates } from "@keelson/testkit/servers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { GatewayFleet, until } from "./fleet.ts";
import { script, scriptedPlugin, traces } from "./scripted-plugin.ts";

let fleet: GatewayFleet;
let folder: string;
let collected = "";
const collector = createServer((request, response) => {
  request.setEncoding("utf8").on("data", (chunk: string) => (collected += chunk));
  request.on("end", () => response.end("{}"));
});
let exporter: OtlpExporter;
const ok = (): Promise<unknown> => Promise.resolve("ok");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-front-door-"));
  await new Promise<void>((resolve) => {
    collector.listen(0, "127.0.0.1", resolve);
  });
  const otlpUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const clock = new SystemClock();
  exporter = new OtlpExporter({ url: otlpUrl, clock, process: "keelson-node" });
  fleet = await GatewayFleet.start({
    plugins: [scriptedPlugin],
    nodes: 2,
    tracer: new Tracer({ clock, random: systemRandom, sampleRatio: 0, sink: exporter }),
    gateway: { traces: { otlpUrl, sampleRatio: 0 }, grpcListen: { host: "127.0.0.1", port: 0 } },
  });
  await until("every shard is held", () =>
    Array.from({ length: 4 }, (_, i) => fleet.holder(`scripted/${i}/0`)).every((name) => name !== undefined),
  );
});

beforeEach(() => {
  script.handle = ok;
});

afterAll(async () => {
  await fleet.stop();
  await exporter.close();
  collector.close();
  collector.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

test("more of one operation than it allows is shed with 429, a reason and when to come back", async () => {
  const release: (() => void)[] = [];
  script.handle = () => new Promise((resolve) => release.push(() => resolve("late")));
  let answered = 0;
  const asked = Array.from({ length: 12 }, async () => {
    const answer = await fleet.get("/v1/scripted/one/a");
    answered += 1;
    return answer;
  });
  await until(
    "five are under way, and the others are answered",
    () => release.length === 5 && answered === 7,
  );
  const shed = await Promise.race(asked);
  expect(shed.status).toBe(429);
  expect(shed.headers.get("retry-after")).toBe("1");
  expect(shed.body).toMatchObject({ error: { code: "SHED", reason: "route" } });
  for (const each of release) each();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(7);
});

test("an answer that lacks some shards says so, unless only a whole one will do", async () => {
  script.handle = (shard) => (shard === "2" ? new Promise(() => undefined) : Promise.resolve(shard));
  const partial = await fleet.get("/api/search");
  expect(partial.status).toBe(200);
  expect(partial.body).toEqual(["0", "1", "3"]);
  expect(partial.headers.get("keelson-partial")).toBe("1/4");
  const whole = await fleet.get("/v1/scripted/whole");
  expect(whole.status).toBe(503);
  expect(whole.body).toMatchObject({
    error: { code: "PARTIAL", missing: [{ shard: "2", code: "TIMEOUT" }] },
  });
});

test("a service's own failure has its status; what it did not declare is withheld, and logged", async () => {
  script.handle = () => Promise.reject(Object.assign(new Error("short and stout"), { code: "TEAPOT" }));
  const declared = await fleet.get("/v1/scripted/one/a");
  expect([declared.status, declared.body]).toMatchObject([
    418,
    { error: { code: "TEAPOT", message: "short and stout" } },
  ]);
  script.handle = () => Promise.reject(new Error("the password is hunter2"));
  const hidden = await fleet.get("/v1/scripted/one/a");
  expect(hidden.status).toBe(500);
  expect(JSON.stringify(hidden.body)).not.toContain("hunter2");
  const { requestId } = (hidden.body as { error: { requestId: string } }).error;
  expect(fleet.logged.some((line) => line.includes(requestId) && line.includes("a request failed"))).toBe(
    true,
  );
});

test("answers that are no JSON, that never come, and that fail half-way", async () => {
  const file = await fleet.get("/v1/scripted/file/a/b%20c.txt");
  expect([file.status, file.body]).toEqual([203, "file a/b c.txt"]);
  const late = await fleet.get("/v1/scripted/late");
  expect([late.status, late.body]).toMatchObject([504, { error: { code: "TIMEOUT" } }]);
  const lines = String((await fleet.get("/v1/scripted/count")).body)
    .trim()
    .split("\n");
  expect(lines.slice(0, 2)).toEqual(["1", "2"]);
  expect(JSON.parse(lines[2] ?? "")).toMatchObject({ error: { code: "INTERNAL", status: 500 } });
  expect(lines.join()).not.toContain("secret");
});

test("query parameters arrive as they were declared", async () => {
  script.handle = (_shard, _method, body) => Promise.resolve(body);
  const { body } = await fleet.get("/v1/scripted/one/a?n=5&tag=x&tag=y");
  expect(body).toMatchObject({ params: { key: "a" }, query: { n: 5, tag: ["x", "y"] } });
  expect((await fleet.get("/v1/scripted/one/a?n=five")).status).toBe(400);
});

test("one trace spans the gateway, the node and the node that this one asks", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  traces.length = 0;
  const { status, body } = await fleet.get("/v1/scripted/another", {
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  });
  expect([status, body]).toEqual([200, "ok"]);
  expect(traces).toHaveLength(2);
  expect(new Set(traces.map((trace) => trace?.split("-")[1]))).toEqual(new Set([traceId]));
  // Each has a span of its own as parent.
  expect(new Set(traces).size).toBe(2);
  await exporter.flush();
  await until("the collector has the gateway's span", () => collected.includes("keelson-gateway"));
  expect(collected).toContain('"name":"scripted another"');
  expect(collected).toContain('"name":"scripted ask-another"');
  expect(collected).toContain('"name":"scripted asked"');
  const ids = Array.from(collected.matchAll(/"traceId":"(\w+)"/g), (match) => match[1]);
  expect(new Set(ids)).toEqual(new Set([traceId]));
  // What the caller does not keep is not exported.
  collected = "";
  await fleet.get("/v1/scripted/another", { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-00` } });
  await exporter.flush();
  expect(collected).toBe("");
});

test("gRPC: answers, streams, failures with their status, text and trailers, and tokens", async () => {
  const { record, token } = createToken({ name: "t", scope: "read", tenants: ["mine"] }, Date.now());
  const file = join(folder, "grpc-tokens.json");
  await writeTokenFile(file, [record]);
  const tokens = tokensFromFile(file, fleet.clock);
  const gateway = await fleet.startGateway({ tokens, grpcListen: { host: "127.0.0.1", port: 0 } });
  const open = new Client(fleet.gateway.grpcAddress!, credentials.createInsecure());
  const guarded = new Client(gateway.grpcAddress!, credentials.createInsecure());
  const echo = (client: Client, text: string, bearer?: string): Promise<string | ServiceError> =>
    new Promise((resolve) => {
      const metadata = new Metadata();
      if (bearer !== undefined) metadata.set("authorization", `Bearer ${bearer}`);
      const identity = (bytes: Buffer): Buffer => bytes;
      client.makeUnaryRequest(
        "/scripted.v1.Scripted/Echo",
        identity,
        String,
        Buffer.from(text),
        metadata,
        (error, answer) => resolve(error ?? String(answer)),
      );
    });
  try {
    expect(await echo(open, "hello")).toBe("ok");
    const failed = (await echo(open, "fail")) as ServiceError;
    expect([failed.code, failed.details, failed.metadata.get("x-owner")]).toEqual([
      5,
      "shard not found",
      ["b"],
    ]);
    const bug = (await echo(open, "bug")) as ServiceError;
    expect(bug.code).toBe(13);
    expect(bug.details).not.toContain("secret");
    const items = await new Promise<string[]>((resolve, reject) => {
      const found: string[] = [];
      const identity = (bytes: Buffer): Buffer => bytes;
      const call = open.makeServerStreamRequest(
        "/scripted.v1.Scripted/Count",
        identity,
        String,
        Buffer.from("300"),
      );
      call.on("data", (item: string) => found.push(item));
      call.on("end", () => resolve(found));
      call.on("error", reject);
    });
    expect(items).toHaveLength(300);
    expect(await echo(guarded, "mine")).toMatchObject({ code: 16 });
    expect(await echo(guarded, "mine", token)).toBe("ok");
    expect(await echo(guarded, "theirs", token)).toMatchObject({ code: 7 });
  } finally {
    open.close();
    guarded.close();
    await gateway.stop({ graceMs: 0 });
  }
});

test("what only operators may do over gRPC is audited: done, failed, and refused", async () => {
  const audit = await AuditLog.open({ clock: fleet.clock });
  const admin = createToken({ name: "ann", scope: "admin" }, Date.now());
  const reader = createToken({ name: "ron", scope: "read" }, Date.now());
  const file = join(folder, "grpc-audit-tokens.json");
  await writeTokenFile(file, [admin.record, reader.record]);
  const tokens = tokensFromFile(file, fleet.clock);
  const gateway = await fleet.startGateway({ tokens, audit, grpcListen: { host: "127.0.0.1", port: 0 } });
  const client = new Client(gateway.grpcAddress!, credentials.createInsecure());
  const steer = (text: string, token: string): Promise<number> =>
    new Promise((resolve) => {
      const metadata = new Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      const identity = (bytes: Buffer): Buffer => bytes;
      const path = "/scripted.v1.Scripted/Steer";
      client.makeUnaryRequest(path, identity, String, Buffer.from(text), metadata, (error) =>
        resolve(error?.code ?? 0),
      );
    });
  try {
    expect(await steer("left", admin.token)).toBe(0);
    expect(await steer("fail", admin.token)).toBe(5);
    expect(await steer("right", reader.token)).toBe(7);
    const about = { action: "scripted.grpc Steer", from: "127.0.0.1" };
    expect(audit.query({ limit: 10 }).entries).toMatchObject([
      { ...about, who: "ron", outcome: "refused", code: "FORBIDDEN" },
      { ...about, who: "ann", outcome: "failed" },
      { ...about, who: "ann", outcome: "done", asked: '{"text":"left"}' },
    ]);
  } finally {
    client.close();
    await gateway.stop({ graceMs: 0 });
  }
});

test("a gRPC stream ends when the token that opened it is revoked", async () => {
  const grpcListen = { host: "127.0.0.1", port: 0 };
  const gateway = await fleet.startGateway({ tokens: tokensFromStore(), grpcListen });
  const { record, token } = createToken({ name: "t", scope: "read" }, Date.now());
  const keeper = tokensInStore(fleet.store, "test", 5_000);
  await keeper.add(record);
  const client = new Client(gateway.grpcAddress!, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  /** The code that a stream ends with, once it has had its first item. */
  const stream = (first: () => void): Promise<number> =>
    new Promise((resolve) => {
      const identity = (bytes: Buffer): Buffer => bytes;
      const path = "/scripted.v1.Scripted/Count";
      const call = client.makeServerStreamRequest(path, identity, String, Buffer.from("-1"), metadata);
      call.on("data", first);
      call.on("end", () => resolve(0));
      call.on("error", (error: ServiceError) => resolve(error.code));
    });
  try {
    let ended: Promise<number> | undefined;
    await until("a stream is open", async () => {
      const opened = new Promise<boolean>((resolve) => {
        ended = stream(() => resolve(true));
        void ended.then(() => resolve(false));
      });
      return opened;
    });
    await keeper.remove(record.id);
    expect(await ended).toBe(16);
    expect(await stream(() => undefined)).toBe(16);
  } finally {
    client.close();
    await gateway.stop({ graceMs: 0 });
  }
});

test("a token of the store works at once, for its tenant only, and stops at once when it is revoked", async () => {
  const gateway = await fleet.startGateway({ tokens: tokensFromStore() });
  const { record, token } = createToken({ name: "t", scope: "read", tenants: ["mine"] }, Date.now());
  const ask = async (key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${gateway.url}/v1/scripted/one/${key}`, { headers })).status;
  };
  expect(await ask("mine")).toBe(401);
  const keeper = tokensInStore(fleet.store, "test", 5_000);
  await keeper.add(record);
  await until("it is taken", async () => (await ask("mine")) === 200);
  expect(await ask("theirs")).toBe(403);
  expect(
    (await fetch(`${gateway.url}/api/search`, { headers: { authorization: `Bearer ${token}` } })).status,
  ).toBe(403);
  await keeper.remove(record.id);
  await until("it is revoked", async () => (await ask("mine")) === 401);
  await gateway.stop({ graceMs: 0 });
});

test("off loopback it starts only with tokens and TLS, or when told in so many words", async () => {
  const base = {
    fleet: "test",
    plugins: [scriptedPlugin],
    listen: { host: "0.0.0.0", port: 0 },
    store: fleet.store,
    clock: fleet.clock,
    random: systemRandom,
    log: fleet.log,
  };
  const file = join(folder, "tokens.json");
  const { record, token } = createToken({ name: "t", scope: "read" }, Date.now());
  await writeTokenFile(file, [record]);
  const tokens = tokensFromFile(file, fleet.clock);
  const { server } = makeCertificates(folder);
  const tls = { certFile: server.cert, keyFile: server.key };
  await expect(startGateway(base)).rejects.toMatchObject({
    code: "BAD_CONFIG",
    message: /no tokens and no TLS/,
  });
  await expect(startGateway({ ...base, tokens })).rejects.toThrow("no TLS");
  await expect(startGateway({ ...base, tls })).rejects.toThrow("no tokens");
  await expect(startGateway({ ...base, listen: { host: "::", port: 0 } })).rejects.toThrow("insecure");
  const told = await startGateway({ ...base, insecure: true });
  await told.stop({ graceMs: 0 });
  const secure = await startGateway({ ...base, tokens, tls });
  const port = Number(new URL(secure.url).port);
  expect(secure.url).toMatch(/^https:/);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = tlsRequest(
      { host: "127.0.0.1", port, path: "/v1/services", headers, rejectUnauthorized: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    );
    request.on("error", reject).end();
  });
  expect(status).toBe(200);
  await secure.stop({ graceMs: 0 });
});

test("a gateway that stops lets requests finish, and says that it is not ready", async () => {
  const gateway = await fleet.startGateway();
  let release: () => void = () => undefined;
  script.handle = () =>
    new Promise((resolve) => {
      release = () => resolve("finished");
    });
  const asked = fetch(`${gateway.url}/v1/scripted/one/a`);
  await until("it is under way", () => String(release) !== "() => undefined");
  const stopped = gateway.stop({ graceMs: 20_000 });
  expect(gateway.health()).toMatchObject({ status: "stopping", ready: false });
  release();
  expect(await (await asked).json()).toBe("finished");
  await stopped;
  await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow("fetch failed");
});
