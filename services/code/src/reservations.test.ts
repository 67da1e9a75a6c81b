import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import type { Repository } from "./repository.ts";
import { Reservations } from "./reservations.ts";

const clock = new ManualClock();
const repository = (name: string): Repository => ({
  v: 1,
  id: name.length,
  name,
  url: `file:///${name}`,
  branches: [],
  pinned: false,
  state: "active",
  reason: "added",
  wantedAt: 0,
  addedAt: 0,
  rank: 0,
  archived: false,
  fork: false,
  public: true,
  metadata: {},
});

/** A node of a hundred bytes, of which so many are taken by others; each of its residents has ten, and is gone a second after it was told to rest. */
function node(takenBytes: number, residents = 0) {
  const state = { taken: takenBytes, building: 0, gapBytes: Infinity, leaving: 0, residents };
  const sizes: number[][] = [];
  const asked: number[] = [];
  const reservations = new Reservations({
    clock,
    budgetBytes: 100,
    preparedBytes: () => state.taken,
    usedBytes: () => state.taken + state.building,
    roomBytes: () => Math.min(100 - state.taken - state.building, state.gapBytes),
    makeRoom: (_, missingBytes) => {
      asked.push(missingBytes);
      while (state.leaving < missingBytes) {
        if (state.residents === 0) return Promise.resolve(false);
        state.residents--;
        state.leaving += 10;
        clock.after(1_000, () => {
          state.leaving -= 10;
          state.taken -= 10;
        });
      }
      return Promise.resolve(true);
    },
    foundSize: (id, bytes, heldBytes) => {
      sizes.push([id, bytes, heldBytes]);
      return Promise.resolve();
    },
  });
  return { state, sizes, asked, reservations };
}

const { signal: ending } = new AbortController();
const newcomer = { memoryBytes: 0, ending };

test("room is given once, and to the next when it was given back", async () => {
  const { reservations, sizes } = node(40);
  const release = await reservations.reserve(repository("a"), 50, newcomer);
  await expect(reservations.reserve(repository("bb"), 20, { ...newcomer })).rejects.toThrow(
    /^bb needs about 1 MB, and this node has 0 MB: add a node/,
  );
  expect(sizes).toEqual([[2, 20, 0]]);
  release();
  await expect(reservations.reserve(repository("bb"), 20, { ...newcomer })).resolves.toBeTypeOf("function");
});

test("what has been written of an index that comes is not counted twice", async () => {
  const { reservations, state } = node(0);
  await reservations.reserve(repository("a"), 60, newcomer);
  state.building = 50;
  await expect(reservations.reserve(repository("b"), 40, { ...newcomer })).resolves.toBeTypeOf("function");
});

test("a new commit takes the place of what is there", async () => {
  const { reservations } = node(90);
  await expect(reservations.reserve(repository("a"), 60, { memoryBytes: 50, ending })).resolves.toBeTypeOf(
    "function",
  );
});

test("whoever needs more waits until others have gone, one after the other; each makes its own room", async () => {
  const { reservations, asked, state } = node(100, 10);
  const given: string[] = [];
  for (const name of ["a", "b"])
    void reservations.reserve(repository(name), 20, { ...newcomer }).then(() => given.push(name));
  await clock.advance(900);
  expect([given, state.residents]).toEqual([[], 8]);
  await clock.advance(500);
  expect([given, state.residents]).toEqual([["a"], 6]);
  await clock.advance(1_500);
  expect([given, state.residents]).toEqual([["a", "b"], 6]);
  expect(asked.length).toBeLessThan(100);
});

test("more make room when what they left lies in gaps", async () => {
  const { reservations, state } = node(100, 10);
  state.gapBytes = 5;
  const reserving = reservations.reserve(repository("a"), 20, newcomer);
  await clock.advance(1_500);
  expect(state.residents).toBeLessThan(8);
  state.gapBytes = Infinity;
  await clock.advance(1_500);
  await reserving;
});

test("nobody is waited for without end", async () => {
  const { reservations, state, sizes } = node(100, 10);
  state.gapBytes = 0;
  const refused = reservations.reserve(repository("a"), 20, newcomer).catch(String);
  await clock.advance(20_000);
  expect(await refused).toMatch("needs about");
  expect(sizes).toEqual([[1, 20, 0]]);
});

test("whoever is no longer wanted leaves the line at once, and nothing more rests for it", async () => {
  const { reservations, state, asked } = node(100, 10);
  state.gapBytes = 0;
  const first = new AbortController();
  const second = new AbortController();
  const results = [first, second].map((each) =>
    reservations.reserve(repository("a"), 20, { memoryBytes: 0, ending: each.signal }).catch(String),
  );
  await clock.advance(200);
  second.abort();
  expect(await results[1]).toMatch("Abort");
  first.abort();
  await clock.advance(100);
  expect(await results[0]).toMatch("Abort");
  const times = asked.length;
  await clock.advance(20_000);
  expect(asked.length).toBe(times);
});

test("what a new commit needs is told with what of it is here already", async () => {
  const { reservations, sizes } = node(90);
  const refused = reservations.reserve(repository("a"), 120, { memoryBytes: 50, ending }).catch(String);
  expect(await refused).toMatch("needs about");
  expect(sizes).toEqual([[1, 120, 50]]);
});
