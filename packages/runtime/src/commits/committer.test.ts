import { expect, test } from "vitest";
import type { Commit, CommitOutcome, Store } from "@keelson/kernel";
import type { Mirror } from "../mirror/mirror.ts";
import { Committer } from "./committer.ts";

/** A committer whose store takes every commit, one revision each, and whose copy is of incarnation "one". */
function rig(): {
  committer: Committer;
  sent: Commit[];
  learnt: number[];
  /** The copy moves on to another incarnation. */
  loseWrites: () => void;
  settle: () => Promise<void>;
} {
  const sent: Commit[] = [];
  const learnt: number[] = [];
  let incarnation = "one";
  const store = {
    commit: (commit: Commit): Promise<CommitOutcome> => {
      sent.push(commit);
      return Promise.resolve({ kind: "committed", revision: sent.length, incarnation: "one" });
    },
  } as Partial<Store> as Store;
  const mirror = {
    image: {
      get incarnation() {
        return incarnation;
      },
    },
    notice: () => undefined,
    distrust: () => undefined,
    learn: (revision: number) => void learnt.push(revision),
  } as unknown as Mirror;
  const clock = { now: () => 0, wall: () => 0, after: () => ({ cancel: () => undefined }) };
  const committer = new Committer({ store, mirror, clock, timeoutMs: 1 });
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const loseWrites = (): void => {
    incarnation = "two";
  };
  return { committer, sent, learnt, loseWrites, settle };
}

const puts = (...keys: string[]): Commit => ({
  guards: [],
  writes: keys.map((key) => ({ kind: "put", key, value: "" })),
});

const keysOf = (commit: Commit): string[] => commit.writes.map(({ key }) => key);

test("commits of one moment that have nothing to do with each other go in one batch", async () => {
  const { committer, sent, settle } = rig();
  for (const key of ["a", "b", "c"]) committer.together(puts(key), () => undefined);
  await settle();
  expect(sent.map(keysOf)).toEqual([["a", "b", "c"]]);
});

test("a batch never writes a key twice: the second write goes in a batch of its own", async () => {
  const { committer, sent, settle } = rig();
  for (const keys of [["a", "x"], ["b"], ["c", "x"]]) committer.together(puts(...keys), () => undefined);
  await settle();
  expect(sent.map(keysOf)).toEqual([
    ["a", "x", "b"],
    ["c", "x"],
  ]);
});

test("a commit that guards on what an earlier one writes does not share its batch", async () => {
  const { committer, sent, settle } = rig();
  committer.together(puts("tenure"), () => undefined);
  committer.together(
    { guards: [{ key: "tenure", revision: 4 }], writes: puts("primary").writes },
    () => undefined,
  );
  await settle();
  expect(sent.map(keysOf)).toEqual([["tenure"], ["primary"]]);
});

test("a reply from before a loss is reported, and not learnt into the copy of what came after", async () => {
  const { committer, learnt, loseWrites, settle } = rig();
  const reports: string[] = [];
  committer.alone(puts("a"), (report) => reports.push(report));
  await settle();
  committer.alone(puts("b"), (report) => reports.push(report));
  loseWrites();
  await settle();
  expect(reports).toEqual(["committed", "committed"]);
  expect(learnt).toEqual([1]);
});

test("a batch has as many guards and as many writes as a store takes, and a guard that all its commits share counts once", async () => {
  const { committer, sent, settle } = rig();
  for (let n = 0; n < 120; n++)
    committer.together(
      {
        guards: [
          { key: "era", revision: 3 },
          { key: `k${n}`, revision: 0 },
        ],
        writes: [{ kind: "put", key: `k${n}`, value: "" }],
      },
      () => undefined,
    );
  await settle();
  expect(sent.map(({ guards, writes }) => [guards.length, writes.length])).toEqual([
    [100, 99],
    [22, 21],
  ]);
});
