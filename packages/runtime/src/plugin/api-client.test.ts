import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { callApi } from "./api-client.ts";
import { route } from "./route.ts";

test("a server that answers with a page is told to be no gateway", async () => {
  const pages = createServer((_, response) =>
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<html></html>"),
  );
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const hello = route({
    verb: "GET",
    path: "/hello",
    summary: "says hello",
    answer: z.string(),
    scope: "read",
    mode: "read",
    to: { kind: "custom", handle: () => Promise.resolve("hello") },
  });
  try {
    await expect(callApi("s", hello, {}, { url })).rejects.toMatchObject({
      code: "UNREADABLE",
      message: `${url} answers with a web page, not as a gateway does: check the address`,
    });
  } finally {
    pages.closeAllConnections();
    pages.close();
  }
});
