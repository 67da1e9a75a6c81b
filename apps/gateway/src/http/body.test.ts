import { once } from "node:events";
import { createServer, request as send, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { SystemClock } from "@keelson/runtime";
import { afterEach, expect, test } from "vitest";
import { BodyBudget, readBody } from "./body.ts";

const server = createServer();
afterEach(() => {
  server.removeAllListeners("request");
  server.close();
  server.closeAllConnections();
});

test.each([
  ["with its length", true],
  ["without", false],
])("a body that is too large, sent %s, is taken to its end before that is said", async (_, length) => {
  const budget = new BodyBudget(1 << 20);
  const seen = new Promise<{ why: unknown; complete: boolean }>((resolve) => {
    server.once("request", (request, response) => {
      readBody(request, new SystemClock(), budget, { bytesMax: 1_000, timeoutMs: 30_000 }).then(
        () => resolve({ why: "none", complete: request.complete }),
        (why: unknown) => {
          resolve({ why, complete: request.complete });
          response.writeHead(413, { connection: "close" }).end();
        },
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const body = JSON.stringify("x".repeat(10 << 20));
  const client = send({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    method: "POST",
    headers: { "content-type": "application/json", ...(length ? { "content-length": body.length } : {}) },
  });
  const answered = once(client, "response").catch((error: unknown) => [error]);
  client.end(body);
  expect(await seen).toMatchObject({ why: { code: "TOO_LARGE" }, complete: true });
  const [answer] = (await answered) as [IncomingMessage];
  expect([answer.statusCode, budget.bytes]).toEqual([413, 0]);
  answer.resume();
});

test("what must be proven first is not understood before, and not at all when it is refused", async () => {
  const budget = new BodyBudget(1 << 20);
  const told: unknown[] = [];
  server.on("request", (request, response) => {
    const prove = (bytes: Uint8Array): Promise<void> => {
      const text = Buffer.from(bytes).toString();
      told.push(text);
      return text.startsWith("{") ? Promise.resolve() : Promise.reject(new Error("who are you?"));
    };
    readBody(request, new SystemClock(), budget, { bytesMax: 1_000, timeoutMs: 30_000, prove })
      .then(
        (body) => told.push(body?.value),
        (error: unknown) => told.push(String(error)),
      )
      .finally(() => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (const body of ["no JSON", '{"a":1}', "{"]) {
    const headers = { "content-type": "application/json" };
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
  }
  const notJson = expect.stringContaining("the body is not JSON") as unknown;
  expect(told).toEqual(["no JSON", "Error: who are you?", '{"a":1}', { a: 1 }, "{", notJson]);
});
