import { once } from "node:events";
import { createServer, request as send, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { SystemClock } from "@keelson/runtime";
import { afterEach, expect, test } from "vitest";
import { BodyBudget, readBody } from "./body.ts";

const server = createServer();
afterEach(() => {
  server.close();
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
