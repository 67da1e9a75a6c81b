/** A real fleet: a store, nodes and a gateway, each a process of its own, with settings from files, the environment and flags. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "./process/keelson-process.ts";
import { startStore } from "./process/store-process.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-fleet-"));
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

test("nodes and a gateway share a file; the gateway answers, and drains in good order", async () => {
  const store = await startStore(join(folder, "store"));
  const file = join(folder, "fleet.toml");
  writeFileSync(
    file,
    `store = "${store.url}"
service = ["counter"]
[node]
ttl = "5s"
shared = "${join(folder, "shared")}"
objects = "file:${join(folder, "objects")}"
[counter]
shards = 6
[gateway]
listen = "127.0.0.1:0"
`,
  );
  const node = (id: string): KeelsonProcess =>
    new KeelsonProcess(["node", "--config", file, "--data", join(folder, id)], { KEELSON_ID: id });
  const [a, b] = [node("a"), node("b")];
  await Promise.all([a.says(/holds counter/, 60_000), b.says(/holds counter/, 60_000)]);
  const gateway = new KeelsonProcess(["gateway", "--config", file]);
  const [, url = ""] = await gateway.says(/listens on (http:\S+)/, 30_000);
  await gateway.says(/ready/, 30_000);
  const total = await fetch(`${url}/v1/counter`);
  expect(await total.json()).toEqual({ total: 0 });
  const status = new KeelsonProcess(["status", "--json"], { KEELSON_URL: url });
  await status.endsWith(0);
  expect(JSON.parse(status.stdout.join("\n"))).toMatchObject({
    members: 2,
    services: [{ wanted: 6, held: 6 }],
  });
  // The same from the store itself, with no gateway.
  const direct = new KeelsonProcess(["nodes", "--json"], { KEELSON_STORE: store.url });
  await direct.endsWith(0);
  expect(JSON.parse(direct.stdout.join("\n"))).toMatchObject([{ node: "a" }, { node: "b" }]);
  a.signal("SIGTERM");
  await a.endsWith(0);
  expect((await fetch(`${url}/v1/counter`)).status).toBe(200);
  gateway.signal("SIGTERM");
  await gateway.endsWith(0);
}, 180_000);
