import { expect, test } from "vitest";
import { ManualClock } from "../fixtures/manual-clock.ts";
import { realClock, seededRandom } from "../fixtures/clock.ts";
import { LOOPBACK, rejection, Rig, sleep, until } from "../fixtures/rig.ts";
import { WirePool, type WirePoolOptions } from "./pool.ts";

const rig = new Rig();
const timeoutMs = 2_000;

function newPool(options: Partial<WirePoolOptions> = {}): WirePool {
  const pool = new WirePool({ clock: realClock, random: seededRandom(1), name: "pool", ...options });
  rig.onEnd(() => pool.close());
  return pool;
}

test("calls to one address share a connection", async () => {
  const server = rig.server().method("one", () => 1);
  await server.listen(LOOPBACK);
  const pool = newPool();
  await Promise.all([1, 2, 3].map(() => pool.call(server.address, "one", 0, { timeoutMs })));
  expect(pool.size).toBe(1);
  expect(server.stats.connections).toBe(1);
});

test("an idle client is closed, one that waits for an answer is not", async () => {
  const servers = [rig.server().method("one", () => 1), rig.server().method("wait", () => sleep(400))];
  for (const server of servers) await server.listen(LOOPBACK);
  const [quick, slow] = servers.map((server) => server.address);
  const pool = newPool({ idleMs: 100 });
  await pool.call(quick!, "one", 0, { timeoutMs });
  const waiting = pool.call(slow!, "wait", 0, { timeoutMs });
  await until("the idle one is closed", () => pool.size === 1);
  await until("the server sees it", () => servers[0]?.stats.connections === 0);
  await waiting;
  expect(await pool.call(quick!, "one", 0, { timeoutMs })).toBe(1);
});

test("a full pool drops the address that is idle longest", () => {
  const clock = new ManualClock();
  const pool = newPool({ clock, clientsMax: 2 });
  const [a, b] = ["10.0.0.1:1", "10.0.0.2:1"].map((address) => {
    clock.advance(1);
    return pool.client(address);
  });
  clock.advance(1);
  const c = pool.client("10.0.0.3:1");
  expect(pool.size).toBe(2);
  clock.advance(1);
  expect(pool.client("10.0.0.2:1")).toBe(b);
  clock.advance(1);
  expect(pool.client("10.0.0.1:1")).not.toBe(a);
  expect(pool.client("10.0.0.2:1")).toBe(b);
  expect(pool.client("10.0.0.3:1")).not.toBe(c);
});

test("a full pool with no idle client is UNREACHABLE", async () => {
  const server = rig.server().method("wait", () => sleep(50));
  await server.listen(LOOPBACK);
  const pool = newPool({ clientsMax: 1 });
  const waiting = pool.call(server.address, "wait", 0, { timeoutMs });
  const error = await rejection(pool.call("127.0.0.1:1", "wait", 0, { timeoutMs }));
  expect(error).toMatchObject({ code: "UNREACHABLE", message: expect.stringContaining("in use") as string });
  await waiting;
});

test("an address that cannot be read is UNREACHABLE, and says what one looks like", async () => {
  const pool = newPool();
  for (const address of ["", "nowhere", "host:0", "host:99999", "a b:1", "::1:80"]) {
    const error = await rejection(pool.call(address, "one", 0, { timeoutMs }));
    expect(error).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("host:port") as string,
    });
  }
  expect(pool.size).toBe(0);
});

test("a closed pool calls nobody", async () => {
  const pool = newPool();
  pool.close();
  expect((await rejection(pool.call("127.0.0.1:1", "one", 0, { timeoutMs }))).code).toBe("UNREACHABLE");
});
