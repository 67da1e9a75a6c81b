import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CloneCache } from "./clone-cache.ts";
import { Credentials } from "./credentials.ts";
import { Scratch } from "./fixtures/scratch.ts";
import { parseRemote } from "./remote.ts";

vi.setConfig({ testTimeout: 30_000 });

let scratch: Scratch;
let server: Server;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  scratch.remove();
});

/** Looks at one repository there, so many times, and gives what came of the last. */
async function look(answer: RequestListener, times = 1): Promise<unknown> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ports = { now: () => 0, environment: { TOKEN: "s3cret" } };
  const credentials = new Credentials([{ host, username: "x", from: "env:TOKEN" }], ports);
  const { folder } = scratch;
  const clones = new CloneCache({ folder, credentials, clonesMax: 1, timeoutMs: 20_000, now: () => 0 });
  let came: unknown;
  for (let i = 0; i < times; i++)
    came = await clones
      .with(parseRemote(`http://${host}/a`), [], (clone) => clone.look())
      .catch((error: unknown) => error);
  clones.close();
  return came;
}

test("one that repeats the token, as it is or as it was sent, is not quoted with it", async () => {
  const error = await look(({ headers: { authorization } }, response) => {
    if (authorization === undefined)
      return void response.writeHead(401, { "www-authenticate": "Basic realm=a" }).end();
    const token = Buffer.from(authorization.slice("Basic ".length), "base64").toString();
    response.writeHead(403, { "content-type": "text/plain" }).end(`no ${authorization} which is ${token}`);
  });
  expect(error).toMatchObject({ code: "ACCESS_DENIED" });
  expect(String(error)).toContain("no Basic … which is x:…");
});

test("a page for people is no repository, though git finds one without branches in it", async () => {
  const page: RequestListener = (_, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html></html>");
  expect(await look(page, 2)).toMatchObject({ code: "NOT_A_REPOSITORY" });
});
