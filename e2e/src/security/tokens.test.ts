/** Tokens that come and go while two gateways run: whatever one of them is told holds at both, at once, and for streams that are open. */
import { createToken, tokensFromStore, tokensInStore, withTokens, type Gateway } from "@keelson/gateway";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayFleet, until } from "../gateway/fleet.ts";

let fleet: GatewayFleet;
let gateways: readonly Gateway[];
let admin: string;

interface Made {
  readonly token: string;
  readonly created: { readonly id: string };
}

beforeAll(async () => {
  fleet = await GatewayFleet.start({ nodes: 2 });
  const start = (): Promise<Gateway> => {
    const source = tokensFromStore();
    const keeper = tokensInStore(fleet.store.connect(), "test", 5_000);
    const api = withTokens({ name: "fleet", about: "" }, { source, keeper, clock: fleet.clock });
    return fleet.startGateway({ tokens: source, apis: [api] });
  };
  gateways = await Promise.all([start(), start()]);
  const first = createToken({ name: "first", scope: "admin" }, Date.now());
  admin = first.token;
  await tokensInStore(fleet.store, "test", 5_000).add(first.record);
  for (const at of [0, 1])
    await until(
      "the first token is known",
      async () => (await ask(at, "GET", "/tokens", admin)).status === 200,
    );
}, 60_000);

afterAll(async () => {
  for (const gateway of gateways ?? []) await gateway.stop({ graceMs: 0 });
  await fleet.stop();
});

async function ask(
  at: number,
  method: string,
  path: string,
  token: string,
  body?: unknown,
): Promise<{ status: number; body: never }> {
  const answer = await fetch(`${gateways[at]!.url}/v1/fleet${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as never };
}

const count = (at: number, token: string): Promise<number> =>
  fetch(`${gateways[at]!.url}/v1/counter/1`, { headers: { authorization: `Bearer ${token}` } }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
  );

async function make(body: unknown): Promise<Made> {
  const { status, body: made } = await ask(0, "POST", "/tokens", admin, body);
  expect(status).toBe(200);
  return made;
}

test("a token made at one gateway works at both, and its text is in no list", async () => {
  const { token, created } = await make({ name: "ci", scope: "read" });
  expect(await count(0, token)).toBe(200);
  await until("the other gateway takes it", async () => (await count(1, token)) === 200);
  const listed = await ask(1, "GET", "/tokens", admin);
  expect(listed.body).toMatchObject({ place: "store" });
  const text = JSON.stringify(listed.body);
  expect(text).toContain(created.id);
  expect(text).not.toContain(token.slice(-43));
  expect(text).not.toMatch(/sha256/);
});

test("a revoked token stops working at once at both gateways, and so does a stream that it opened", async () => {
  const { token, created } = await make({ name: "reader", scope: "read" });
  await until("the other gateway takes it", async () => (await count(1, token)) === 200);
  const open = async (at: number): Promise<ReadableStreamDefaultReader<string>> => {
    const answer = await fetch(`${gateways[at]!.url}/v1/counter/1/watch`, {
      headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
    });
    expect(answer.status).toBe(200);
    return answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  };
  const readers = [await open(0), await open(1)];
  for (const reader of readers) expect((await reader.read()).value).toContain("data:");
  const rest = Promise.all(
    readers.map(async (reader) => {
      let text = "";
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
      return text;
    }),
  );
  const ended = rest.catch((error: unknown) => [String(error)]);
  expect((await ask(0, "DELETE", `/tokens/${created.id}`, admin)).status).toBe(200);
  expect(await count(0, token)).toBe(401);
  await until("the other gateway refuses it", async () => (await count(1, token)) === 401);
  for (const text of await ended)
    expect(text).toContain('event: error\ndata: {"error":{"code":"UNAUTHORISED"');
  expect((await ask(0, "DELETE", `/tokens/${created.id}`, admin)).body).toMatchObject({
    error: { code: "NO_SUCH_TOKEN" },
  });
});

test("a token that expires ends the stream that it opened", async () => {
  const { token } = await make({ name: "short", scope: "read", expiresInMs: 3_000 });
  const answer = await fetch(`${gateways[0]!.url}/v1/counter/2/watch`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('"code":"UNAUTHORISED"');
  expect(await count(0, token)).toBe(401);
});

test("only a token that may do everything can make tokens, and the last such stays", async () => {
  for (const limits of [
    { scope: "write" },
    { scope: "admin", services: ["counter"] },
    { scope: "admin", tenants: ["one"] },
  ]) {
    const { token } = await make({ name: "less", ...limits });
    expect((await ask(0, "POST", "/tokens", token, { name: "more", scope: "admin" })).status).toBe(403);
    expect((await ask(0, "GET", "/tokens", token)).status).toBe(403);
  }
  const [, id = ""] = admin.split("_");
  expect((await ask(0, "DELETE", `/tokens/${id}`, admin)).body).toMatchObject({
    error: { code: "LAST_ADMIN" },
  });
  expect((await ask(1, "GET", "/tokens", admin)).status).toBe(200);
  for (const wrong of [{}, { name: "" }, { name: "x", scope: "root" }, { name: "x", expiresInMs: -1 }])
    expect((await ask(0, "POST", "/tokens", admin, wrong)).status).toBe(400);
});
