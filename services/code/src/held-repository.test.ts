import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { GitError } from "./git/index.ts";
import { HeldRepository } from "./held-repository.ts";
import type { RepositoryPorts } from "./repository-ports.ts";
import type { Repository } from "./repository.ts";

/** When a repository is looked at, with dice that fall like this, one after the other; and its lag in the end. */
async function looks(
  pollMs: number,
  dice: readonly number[],
  look: () => Promise<undefined>,
): Promise<{ at: number[]; lagMs: number }> {
  const clock = new ManualClock();
  const times: number[] = [];
  let thrown = 0;
  const row = { id: 1, name: "r", url: "/r", branches: [] as readonly string[] } as Repository;
  const ports = {
    node: "a",
    clock,
    random: () => dice[thrown++] ?? 0,
    replicas: 1,
    holder: () => undefined,
    clones: {
      with: () => {
        times.push(clock.now());
        return look();
      },
    },
    metrics: { count: () => undefined },
    pollMs,
    verifyMs: 0,
    row: () => row,
    record: () => Promise.resolve(true),
    log: () => undefined,
  } as unknown as RepositoryPorts;
  const context = { signal: new AbortController().signal, progress: () => undefined };
  const held = await HeldRepository.prepare(ports, row, 0, context);
  await held.activate({ era: 1, revision: 1 });
  await clock.advance(100_000);
  const lagMs = held.lag.ms;
  await held.close();
  expect(clock.timers).toBe(0);
  // The first is that of its first index, the second that of its activation.
  return { at: times.slice(1, 2 + dice.length), lagMs };
}

test("looks are spread: each comes a quarter earlier or later than pollMs, as the dice fall", async () => {
  const nothingNew = (): Promise<undefined> => Promise.resolve(undefined);
  const { at, lagMs } = await looks(1_000, [0, 0.5, 1, 0.25], nothingNew);
  expect(at).toEqual([0, 750, 1_750, 3_000, 3_875]);
  expect(lagMs).toBe(0);
});

test("a look that failed is made again soon, and ever later, but no later than others", async () => {
  const away = (): Promise<undefined> => Promise.reject(new GitError("GIT_FAILED", "away"));
  // The first index failed too.
  const even = await looks(10_000, [0.5, 0.5, 0.5, 0.5], away);
  expect(even.at).toEqual([0, 4_000, 12_000, 22_000, 32_000]);
  expect((await looks(10_000, [0, 1, 0, 1], away)).at).toEqual([0, 3_000, 13_000, 20_500, 33_000]);
  // None of them told what the remote has.
  expect(even.lagMs).toBe(100_000);
});
