import { ManualClock } from "@keelson/testkit";
import { storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { expect, test } from "vitest";
import { MemoryStore } from "./memory-store.ts";

const HISTORY_MAX = 2_000;

function open(): Promise<StoreHarness> {
  const clock = new ManualClock();
  const store = new MemoryStore({ clock, random: Math.random, historyMax: HISTORY_MAX });
  const second = store.connect();
  return Promise.resolve({
    store,
    second,
    ttlMs: 1000,
    graceMs: 1,
    sleep: (ms) => clock.advance(ms),
    forget: async () => {
      const { incarnation } = await store.range("", { timeoutMs: 1000 });
      const churn = { guards: [], writes: [{ kind: "put", key: "/churn", value: "" }] } as const;
      for (let n = 0; n <= HISTORY_MAX; n += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one revision each.
        await store.commit(churn, { timeoutMs: 1000, incarnation });
      }
    },
    close: async () => {
      await store.close();
      await second.close();
    },
  });
}

// A memory store ends with its process.
storeContract("memory store", open, ["restart"]);

test("a closed memory store leaves no timer behind", async () => {
  const clock = new ManualClock();
  const store = new MemoryStore({ clock, random: Math.random });
  await store.openSession(1000, { timeoutMs: 100 });
  expect(clock.timers).toBe(1);
  await store.close();
  expect(clock.timers).toBe(0);
});

test("two memory stores have different incarnations", async () => {
  const clock = new ManualClock();
  const [one, two] = [
    new MemoryStore({ clock, random: Math.random }),
    new MemoryStore({ clock, random: Math.random }),
  ];
  const incarnations = await Promise.all([one, two].map((store) => store.range("", { timeoutMs: 100 })));
  expect(incarnations[0]?.incarnation).not.toBe(incarnations[1]?.incarnation);
});
