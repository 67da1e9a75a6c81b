import fc from "fast-check";
import { expect, test } from "vitest";
import type { FeedChanges } from "./frames.ts";
import { FleetModel } from "./model.ts";

const node = (i: number): NonNullable<FeedChanges["nodes"]>[number] => ({
  i,
  node: `n${i}`,
  address: "",
  zone: "",
  version: "",
  capacity: 1,
  startedAt: 0,
  member: true,
  drained: false,
  manager: false,
});

function rows(changes: readonly (readonly [i: number, holder: number])[]): FeedChanges {
  const column = (value: number): number[] => changes.map(() => value);
  return {
    kind: "changes",
    at: 0,
    rows: {
      i: changes.map(([i]) => i),
      holder: changes.map(([, holder]) => holder),
      target: column(-1),
      state: changes.map(([, holder]) => (holder < 0 ? "u" : "h")).join(""),
      era: column(1),
      revision: column(7),
      since: column(1),
      strikes: column(0),
    },
  };
}

function modelOf(shards: number, replicas = 1): FleetModel {
  const model = new FleetModel("test");
  model.apply({
    kind: "changes",
    at: 0,
    nodes: [0, 1, 2, 3].map(node),
    services: [
      {
        i: 0,
        service: "s",
        placement: "ring/1",
        view: 1,
        members: 4,
        shards,
        replicas,
        states: { held: 0, moving: 0, unheld: shards * replicas, quarantined: 0 },
      },
    ],
    added: [{ service: 0, from: 0, replicas, shards: { from: 0, count: shards } }],
  });
  return model;
}

test("whatever moves where, every replica sits on its holder, and nobody shares a seat", () => {
  const move = fc.tuple(fc.integer({ min: 0, max: 199 }), fc.integer({ min: -1, max: 3 }));
  fc.assert(
    fc.property(fc.array(fc.array(move, { maxLength: 60 }), { maxLength: 20 }), (frames) => {
      const model = modelOf(200);
      model.apply(rows(Array.from({ length: 200 }, (_, i) => [i, i % 4])));
      for (const frame of frames) model.apply(rows(frame));
      let taken = 0;
      for (const holder of [-1, 0, 1, 2, 3]) {
        taken += model.seats.taken(holder);
        for (const [seat, i] of model.seats.of(holder).entries()) {
          if (i < 0) continue;
          expect([model.holder[i], model.seats.nodeOf(i), model.seats.seatOf(i)]).toEqual([
            holder,
            holder,
            seat,
          ]);
        }
      }
      expect(taken).toBe(200);
    }),
    { numRuns: 50 },
  );
});

test("what is first told of a replica is no move, what is told later is", () => {
  const model = modelOf(3);
  model.apply(
    rows([
      [0, 1],
      [1, 2],
      [2, -1],
    ]),
  );
  expect(model.takeMoves()).toEqual([]);
  model.apply(
    rows([
      [0, 2],
      [1, 2],
      [2, 0],
    ]),
  );
  expect(model.takeMoves()).toEqual([
    { replica: 0, from: 1, to: 2 },
    { replica: 2, from: -1, to: 0 },
  ]);
  expect(model.takeMoves()).toEqual([]);
});

test("replicas of a shard are found by name, and those that are gone are not", () => {
  const model = modelOf(5, 2);
  expect(model.replicasOf("s", "3")).toEqual([6, 7]);
  expect(model.nameOf(7)).toBe("s/3/1");
  model.apply({ kind: "changes", at: 0, removed: [6, 7] });
  expect(model.replicasOf("s", "3")).toEqual([]);
  expect(model.exists(6)).toBe(false);
});

test("a frame that is applied twice changes nothing", () => {
  const model = modelOf(4);
  const frame = rows([
    [0, 1],
    [1, 1],
    [2, 3],
    [3, -1],
  ]);
  model.apply(frame);
  const seats = JSON.stringify([-1, 1, 3].map((holder) => model.seats.of(holder)));
  model.apply(frame);
  expect(JSON.stringify([-1, 1, 3].map((holder) => model.seats.of(holder)))).toBe(seats);
});
