/** What operators have and others do not: a listener of their own, an audit log of all that was done or tried, and callers that are held to a rate. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AuditLog,
  createToken,
  tokensFromStore,
  tokensInStore,
  withAudit,
  withTokens,
  type AuditEntry,
  type Gateway,
} from "@keelson/gateway";
import { LocalAdmin, fleetApi, fleetMirror, systemRandom } from "@keelson/runtime";
import { terms } from "@keelson/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayFleet, until } from "../gateway/fleet.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-operators-"));
const auditFile = join(folder, "audit.jsonl");
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
let fleet: GatewayFleet;
let gateway: Gateway;
const admin = createToken({ name: "ann", scope: "admin" }, Date.now());
const reader = createToken({ name: "ron", scope: "read" }, Date.now());

beforeAll(async () => {
  fleet = await GatewayFleet.start({ nodes: 2 });
  ends.push(() => fleet.stop());
  const { clock } = fleet;
  const random = systemRandom;
  const store = fleet.store.connect();
  const mirror = fleetMirror("test", { store, clock, random }, terms());
  const local = new LocalAdmin({ fleet: "test", mirror, store, clock, random });
  mirror.start();
  ends.push(() => {
    local.close();
    mirror.stop();
  });
  const source = tokensFromStore();
  const keeper = tokensInStore(store, "test", 5_000);
  for (const { record } of [admin, reader]) await keeper.add(record);
  const audit = await AuditLog.open({ path: auditFile, clock });
  ends.push(() => audit.close());
  gateway = await fleet.startGateway({
    tokens: source,
    apis: [withAudit(withTokens(fleetApi(local), { source, keeper, clock }), audit)],
    audit,
    adminListen: { host: "127.0.0.1", port: 0 },
  });
  ends.push(() => gateway.stop({ graceMs: 0 }));
  await until("tokens are known", () => source.find(admin.record.id) !== undefined);
}, 60_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

interface Asked {
  readonly token?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

async function ask(
  base: string | undefined,
  path: string,
  asked: Asked = {},
): Promise<Response & { text2: string }> {
  const { token, method = "GET", body, headers = {} } = asked;
  const answer = await fetch(`${base ?? ""}${path}`, {
    method,
    headers: {
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return Object.assign(answer, { text2: await answer.text() });
}

const audited = async (query = ""): Promise<AuditEntry[]> => {
  const answer = await ask(gateway.adminUrl, `/v1/fleet/audit?limit=1000${query}`, { token: admin.token });
  expect(answer.status).toBe(200);
  return (JSON.parse(answer.text2) as { entries: AuditEntry[] }).entries;
};

test("with a listener for operators, the public one has no trace of their API, metrics or console", async () => {
  for (const path of [
    "/v1/fleet/status",
    "/v1/fleet/tokens",
    "/v1/fleet/audit",
    "/metrics",
    "/metrics/nodes/a",
    "/console/",
    "/v1/console",
  ]) {
    const answer = await ask(gateway.url, path, { token: admin.token });
    expect([path, answer.status]).toEqual([path, 404]);
  }
  expect((await ask(gateway.url, "/openapi.json")).text2).not.toContain("/v1/fleet");
  expect((await ask(gateway.url, "/v1/counter/1", { token: reader.token })).status).toBe(200);
  expect((await ask(gateway.url, "/healthz")).status).toBe(200);
  for (const path of ["/v1/fleet/status", "/metrics", "/v1/counter/1", "/healthz"])
    expect([path, (await ask(gateway.adminUrl, path, { token: admin.token })).status]).toEqual([path, 200]);
});

test("an action is audited with who, token, from where, what, before and after; in the file, too", async () => {
  const drained = await ask(gateway.adminUrl, "/v1/fleet/drains/b", {
    token: admin.token,
    method: "PUT",
    body: { reason: "new disk" },
    headers: { "x-forwarded-for": "203.0.113.9" },
  });
  expect(drained.status).toBe(200);
  expect(
    (await ask(gateway.adminUrl, "/v1/fleet/drains/b", { token: admin.token, method: "DELETE" })).status,
  ).toBe(200);
  const [undrain, drain] = await audited("&who=ann");
  expect(drain).toMatchObject({
    who: "ann",
    tokenId: admin.record.id,
    from: "127.0.0.1",
    forwarded: "203.0.113.9",
    action: "fleet.drain",
    about: { node: "b" },
    change: { before: null, after: { reason: "new disk", by: "ann" } },
    outcome: "done",
    status: 200,
  });
  expect(undrain).toMatchObject({ action: "fleet.undrain", change: { before: { by: "ann" }, after: null } });
  expect(readFileSync(auditFile, "utf8")).toContain('"action":"fleet.drain"');
});

test("what was tried and refused is audited: no token, a wrong one, too little scope, a node that is not there", async () => {
  const wrong = `keelson_${admin.record.id}_${"x".repeat(43)}`;
  const path = "/v1/fleet/drains/a";
  const put = { method: "PUT", body: { reason: "" } };
  expect((await ask(gateway.adminUrl, path, put)).status).toBe(401);
  expect((await ask(gateway.adminUrl, path, { ...put, token: wrong })).status).toBe(401);
  expect((await ask(gateway.adminUrl, path, { ...put, token: reader.token })).status).toBe(403);
  const missing = await ask(gateway.adminUrl, "/v1/fleet/drains/zz", { ...put, token: admin.token });
  expect(missing.status).toBe(404);
  const [none, scope, token, nothing] = await audited("&failed=true");
  expect(none).toMatchObject({ who: "ann", outcome: "refused", code: "NO_SUCH_NODE", about: { node: "zz" } });
  expect(scope).toMatchObject({ who: "ron", outcome: "refused", code: "FORBIDDEN", status: 403 });
  expect(token).toMatchObject({ who: "nobody", tokenId: admin.record.id, code: "UNAUTHORISED" });
  expect(nothing).toMatchObject({ who: "nobody", action: "fleet.drain", status: 401 });
  expect(nothing).not.toHaveProperty("tokenId");
});

test("making and revoking a token is audited, and its secret is in no entry", async () => {
  const made = await ask(gateway.adminUrl, "/v1/fleet/tokens", {
    token: admin.token,
    method: "POST",
    body: { name: "temp", scope: "read" },
  });
  const { token, created } = JSON.parse(made.text2) as { token: string; created: { id: string } };
  expect(made.headers.get("cache-control")).toBe("no-store");
  await ask(gateway.adminUrl, `/v1/fleet/tokens/${created.id}`, { token: admin.token, method: "DELETE" });
  const [revoked, create] = await audited("&who=ann");
  expect(create).toMatchObject({
    action: "fleet.createToken",
    change: { before: null, after: { name: "temp" } },
  });
  expect(revoked).toMatchObject({
    action: "fleet.revokeToken",
    change: { before: { id: created.id }, after: null },
  });
  const written = readFileSync(auditFile, "utf8");
  for (const secret of [token, admin.token, reader.token]) expect(written).not.toContain(secret.slice(-43));
});

test("who shows wrong tokens to the console is held to the rate of refusals, which keeps the audit log from being filled", async () => {
  const source = tokensFromStore();
  const audit = await AuditLog.open({ clock: fleet.clock });
  const strict = await fleet.startGateway({ tokens: source, audit, limits: { refusalsPerSecondMax: 1 } });
  ends.push(() => strict.stop({ graceMs: 0 }));
  const statuses = await Promise.all(
    Array.from(
      { length: 200 },
      async () => (await ask(strict.url, "/v1/console", { token: "wrong" })).status,
    ),
  );
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  const refused = statuses.filter((status) => status === 401).length;
  expect(audit.query({ limit: 1_000 }).entries).toHaveLength(refused);
}, 60_000);

test("a token that asks too much gets 429 with Retry-After, others do not, and so does an address with wrong tokens", async () => {
  const source = tokensFromStore();
  const limits = { tokenRequestsPerSecondMax: 1, addressRequestsPerSecondMax: 1, refusalsPerSecondMax: 1 };
  const strict = await fleet.startGateway({ tokens: source, limits });
  ends.push(() => strict.stop({ graceMs: 0 }));
  await until("tokens are known", () => source.find(admin.record.id) !== undefined);
  const many = (count: number, path: string, token?: string): Promise<Response[]> =>
    Promise.all(
      Array.from({ length: count }, () => ask(strict.url, path, token === undefined ? {} : { token })),
    );
  for (const answers of [await many(60, "/v1/counter/1", reader.token), await many(60, "/docs")]) {
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.every(({ headers }) => Number(headers.get("retry-after")) >= 1)).toBe(true);
  }
  const wrong = await many(60, "/v1/counter/1", `keelson_${"0".repeat(16)}_${"y".repeat(43)}`);
  expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([401, 429]));
  expect((await ask(strict.url, "/v1/counter/1", { token: admin.token })).status).toBe(200);
  expect((await ask(strict.url, "/healthz")).status).toBe(200);
  const metrics = await ask(strict.url, "/metrics", { token: admin.token });
  expect(metrics.text2).toMatch(/keelson_gateway_shed_total\{reason="rate"\} [1-9]/);
}, 60_000);
