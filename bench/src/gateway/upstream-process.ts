/** What nginx proxies to: the cheapest HTTP server that Node has, with the same answer as the echo service. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { program } from "../process/main.ts";

export type UpstreamSaid = { readonly kind: "serving"; readonly address: string };

const { say } = program<unknown, UpstreamSaid>();
const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const text = request.url?.slice(request.url.lastIndexOf("/") + 1) ?? "";
  const body = JSON.stringify({ text, ok: true });
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  say({ kind: "serving", address: `127.0.0.1:${port}` });
});
