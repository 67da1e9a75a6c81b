import { ManualClock } from "@keelson/testkit";
import { beforeEach, expect, test } from "vitest";
import { CommitGroup } from "./commit-group.ts";

interface Sent {
  readonly group: readonly unknown[];
  readonly timeoutMs: number;
  readonly sent: () => void;
  readonly resolve: (outcomes: readonly string[]) => void;
  readonly reject: (error: Error) => void;
}

let clock: ManualClock;
let out: Sent[];
let groups: CommitGroup<string>;

beforeEach(() => {
  clock = new ManualClock();
  out = [];
  groups = new CommitGroup({
    clock,
    send: (group, timeoutMs, sent) =>
      new Promise((resolve, reject) => {
        out.push({ group, timeoutMs, sent, resolve, reject });
      }),
  });
});

const commit = (key: string, timeoutMs = 100, bytes = 1): Promise<string> =>
  groups.commit({ guards: [], writes: [{ kind: "put", key, value: "x".repeat(bytes) }] }, "one", timeoutMs);

async function settle(): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- lets every promise that is due run.
    await Promise.resolve();
  }
}

const keys = ({ group }: Sent): string[] =>
  (group as { writes: { k: string }[] }[]).map(({ writes }) => (writes[0] as { k: string }).k);

test("what is asked for together leaves together, and what comes meanwhile leaves next, with the longest time of all", async () => {
  const first = [commit("a"), commit("b", 300)];
  await settle();
  const second = [commit("c"), commit("d")];
  await settle();
  expect(out.map(keys)).toEqual([["a", "b"]]);
  expect(out[0]?.timeoutMs).toBe(300);
  out[0]?.resolve(["A", "B"]);
  await settle();
  expect(out.map(keys)).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  out[1]?.resolve(["C", "D"]);
  expect(await Promise.all([...first, ...second])).toEqual(["A", "B", "C", "D"]);
  expect(clock.timers).toBe(0);
});

test("a group has at most 64 commits, and large ones leave alone", async () => {
  const all = Array.from({ length: 65 }, (_, n) => commit(`${n}`));
  all.push(commit("large", 100, 3_000_000), commit("huge", 100, 5_000_000), commit("small"));
  for (let n = 0; n < 4; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one group after the other.
    await settle();
    out[n]?.resolve(keys(out[n] as Sent));
  }
  await Promise.all(all);
  expect(out.map((sent) => sent.group.length)).toEqual([64, 2, 1, 1]);
});

test("one whose time is over is unknown if it was sent, and not sent otherwise", async () => {
  const sent = commit("a");
  await settle();
  out[0]?.sent();
  const later = commit("b", 50);
  const failures = [sent, later].map((each) => each.catch((error: unknown) => error as { sent: boolean }));
  await clock.advance(200);
  expect(await Promise.all(failures)).toMatchObject([{ sent: true }, { sent: false }]);
  out[0]?.resolve(["late"]);
  await settle();
  expect(out).toHaveLength(1);
});

test("a failure is the failure of each, and the next group is sent all the same", async () => {
  const first = commit("a");
  await settle();
  const second = commit("b");
  out[0]?.reject(new Error("cut"));
  await expect(first).rejects.toThrow("cut");
  await settle();
  out[1]?.resolve(["B"]);
  expect(await second).toBe("B");
});
