import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { PostgresConnection } from "./connection.ts";

test("a connection that is reset before its first statement is lost, and does not end the process", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  const accepted = once(server, "connection") as Promise<[Socket]>;
  let lose = (): void => {};
  const lost = new Promise<void>((resolve) => {
    lose = resolve;
  });
  const options = { clock, random, hosts: [target], user: "keelson", database: "keelson" };
  try {
    const connection = await PostgresConnection.open(options, target, 10_000, {
      closed: () => lose(),
      notified: () => {},
    });
    const [socket] = await accepted;
    socket.resetAndDestroy();
    await lost;
    await expect(connection.run("select 1", 1_000)).rejects.toMatchObject({ sent: false });
  } finally {
    server.close();
  }
});
