/** The short form of the fault bench: a few seconds on each store, all at once, with every kind of fault. The long form is `npm run bench -- faults`. */
import { describe, expect, test } from "vitest";
import faults from "./faults.ts";
import { FAULT_KINDS, schedule } from "./faults/schedule.ts";
import { STORE_NAMES } from "./store/bench-store.ts";

/** Chosen because eight seconds of each hold every kind of fault, and stops that outlast a TTL. */
const SEEDS = [146, 1599, 2795, 2932];
/** Left to a machine that is busy with other tests. */
const TIMEOUT_MS = 120_000;

const SHORT = ["--minutes", String(8 / 60), "--nodes", "3", "--shards", "12", "--ttl", "1000"];

async function attack(...args: string[]): Promise<Readonly<Record<string, number>>> {
  const told: string[] = [];
  const { figures } = await faults.run({
    args: [...SHORT, ...args],
    progress: (line) => void told.push(line),
  });
  // A clock jump that could not be done would be a fault that was not tried.
  expect(told.filter((line) => line.includes("left out"))).toEqual([]);
  return figures;
}

test("the seeds of the short form hold every kind of fault", () => {
  const kinds = new Set(FAULT_KINDS);
  for (const seed of SEEDS) {
    const drawn = schedule({ seed, nodes: 3, ttlMs: 1_000, lastsMs: 8_000, kinds });
    expect(new Set(drawn.map(({ fault }) => fault.kind))).toEqual(kinds);
  }
});

describe.concurrent("real node processes under faults", () => {
  for (const [n, store] of STORE_NAMES.entries())
    test(
      `keep their promises on ${store}`,
      async () => {
        const figures = await attack("--store", store, "--seed", String(SEEDS[n]));
        expect(figures).toMatchObject({
          overlaps: 0,
          staleWrites: 0,
          staleAnswers: 0,
          lostUpdates: 0,
          unheld: 0,
          crashes: 0,
        });
        expect(figures["faults"]).toBeGreaterThan(6);
        expect(figures["answered"]).toBeGreaterThan(0);
        expect(figures["writesAccepted"]).toBeGreaterThan(0);
      },
      TIMEOUT_MS,
    );

  test(
    "are caught admitting two at a time without self-fencing",
    async () => {
      // Real processes on a busy machine need not fall into the gap in every short run: several get their chance.
      let overlaps = 0;
      for (const seed of SEEDS) {
        overlaps = (await attack("--break", "self-fencing", "--seed", String(seed)))["overlaps"] ?? 0;
        if (overlaps > 0) break;
      }
      expect(overlaps).toBeGreaterThan(0);
    },
    SEEDS.length * TIMEOUT_MS,
  );
});

test("options that make no sense are the user's mistake, said before anything starts", async () => {
  const run = (...args: string[]) => faults.run({ args, progress: () => undefined });
  await expect(run("--store", "etc")).rejects.toThrow(/--store etc: there are embedded, etcd/);
  await expect(run("--break", "fencing")).rejects.toThrow(/--break fencing: there are self-fencing/);
  await expect(run("--minutes", "0")).rejects.toThrow(/--minutes 0: give a number above 0/);
});
