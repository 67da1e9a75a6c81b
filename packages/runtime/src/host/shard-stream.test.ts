import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ring, type Transport } from "@keelson/kernel";
import { TestFleet } from "@keelson/testkit";
import { WireFailure } from "@keelson/wire";
import { afterEach, expect, test } from "vitest";
import { FleetClient } from "../client/fleet-client.ts";
import { defineService } from "../service/service.ts";
import { ShardStream } from "./shard-stream.ts";
import { Ending, Slot } from "./slot.ts";

let fleet: TestFleet;
let client: FleetClient;
/** Generators that have ended, however they ended. */
let ended = 0;

/** Counts up: one item at once, then one whenever the test says so. */
const tick = { next: () => undefined as void };
const service = defineService({
  name: "ticks",
  parameters: { shards: 4, replicas: 1, placement: {} },
  placement: ring({ service: "ticks" }),
  open: () =>
    Promise.resolve({
      handle: () => Promise.resolve("once"),
      async *stream({ method }) {
        try {
          for (let n = 0; ; n++) {
            if (method === "fails" && n === 1) throw Object.assign(new Error("no more"), { code: "NO_MORE" });
            if (method === "ends" && n === 2) return;
            yield n;
            if (method === "waits")
              await new Promise<void>((resolve) => {
                tick.next = resolve;
              });
          }
        } finally {
          ended += 1;
        }
      },
    }),
});

async function begin(): Promise<void> {
  ended = 0;
  fleet = await TestFleet.start({ services: [service] });
  client = new FleetClient({
    fleet: "test",
    store: fleet.store.connect(),
    transport: fleet,
    clock: fleet.clock,
    random: Math.random,
  });
  client.start();
}

afterEach(async () => {
  client.stop();
  await fleet.stop();
});

function follow(method: string, signal?: AbortSignal): AsyncIterable<unknown> {
  const request = { service: "ticks", shard: "1", method, mode: "read", body: null } as const;
  return client.stream({ ...request, openTimeoutMs: 5_000, ...(signal ? { signal } : {}) });
}

test("brings every item to its reader, and the end or the failure after the last", async () => {
  await begin();
  const items: unknown[] = [];
  for await (const item of follow("ends")) items.push(item);
  expect(items).toEqual([0, 1]);
  const before: unknown[] = [];
  await expect(
    (async () => {
      for await (const item of follow("fails")) before.push(item);
    })(),
  ).rejects.toMatchObject({ name: "RouterError", code: "NO_MORE" });
  expect(before).toEqual([0]);
  expect(ended).toBe(2);
});

test("keeps nothing of the items that it has passed on, however long it lasts", async () => {
  await begin();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const ITEMS = 200;
  const made: WeakRef<object>[] = [];
  const items = (async function* () {
    for (let n = 0; n < ITEMS; n += 1) {
      const item = { n };
      made.push(new WeakRef(item));
      yield item;
    }
  })();
  const reader = new ShardStream(items, new Slot(), new Ending(), () => true)[Symbol.asyncIterator]();
  for (let n = 0; n < ITEMS; n += 1) expect((await reader.next()).done).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  // The last few may still be in somebody's hands.
  expect(made.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(10);
  await reader.return?.();
});

test("tells the shard when its reader leaves", async () => {
  await begin();
  for await (const item of follow("endless")) if (item === 3) break;
  await fleet.until(
    () => ended === 1,
    5_000,
    () => "the generator goes on",
  );
  const abort = new AbortController();
  let items = 0;
  for await (const _ of follow("waits", abort.signal)) {
    items += 1;
    abort.abort();
  }
  expect(items).toBe(1);
});

test("ends with MOVED when the shard is handed over, and begins again where the shard is now", async () => {
  await begin();
  const [holder] = fleet.holders("ticks/1/0");
  const reading = (async () => {
    for await (const item of follow("waits")) if (item === 0) void fleet.leave(holder!);
  })();
  await expect(reading).rejects.toMatchObject({ code: "MOVED" });
  await fleet.allHeld();
  expect(fleet.holders("ticks/1/0")[0]).not.toBe(holder);
  for await (const item of follow("ends")) expect(item).toBeTypeOf("number");
});

test.each([
  ["GOING_AWAY", "MOVED"],
  ["SLOW_CONSUMER", "CUT"],
])("an open stream that wire ends with %s ends with %s", async (said, code) => {
  await begin();
  const transport: Transport = {
    call: (address, request) => fleet.call(address, request),
    stream: async (...args) => {
      const { reply } = await fleet.stream(...args);
      const items = (async function* () {
        yield 0;
        throw new WireFailure(said, "b is closing");
      })();
      return { reply, items };
    },
  };
  const { clock } = fleet;
  const store = fleet.store.connect();
  const cut = new FleetClient({ fleet: "test", store, transport, clock, random: Math.random });
  cut.start();
  const request = { service: "ticks", shard: "1", method: "ends", mode: "read", body: null } as const;
  await expect(
    (async () => {
      for await (const item of cut.stream({ ...request, openTimeoutMs: 5_000 })) expect(item).toBe(0);
    })(),
  ).rejects.toMatchObject({ name: "RouterError", code });
  cut.stop();
});

test("an answer that comes once is not streamed", async () => {
  const once = defineService({ ...service, open: async () => ({ handle: async () => 1 }) });
  fleet = await TestFleet.start({ services: [once] });
  client = new FleetClient({
    fleet: "test",
    store: fleet.store.connect(),
    transport: fleet,
    clock: fleet.clock,
    random: Math.random,
  });
  client.start();
  await expect(
    (async () => {
      for await (const _ of follow("any"));
    })(),
  ).rejects.toMatchObject({ code: "BAD_REQUEST" });
});
