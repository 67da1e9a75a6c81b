import { Keys, RING, StoreImage, replicaKey, type Change, type View } from "@keelson/kernel";
import { expect, test } from "vitest";
import { Plans } from "../plans.ts";
import { FeedModel } from "./model.ts";

const keys = new Keys("test");
const REPLICA = replicaKey("echo", "0", 0);

const view: View = {
  v: 1,
  n: 1,
  members: [
    { node: "a", zone: "", weight: 1 },
    { node: "b", zone: "", weight: 1 },
  ],
  parameters: { shards: 1, replicas: 1, placement: {} },
  algorithm: RING,
  reason: "first view",
};
const tenureOf = (node: string): unknown => ({ v: 1, node, address: `${node}:1`, era: 1, since: 0 });
const contender = { v: 1, phase: "ready", progress: 1, address: "b:1" };

test("who gets ready is told until it is told that nobody does, also after a takeover in one breath", () => {
  const image = new StoreImage();
  const model = new FeedModel({
    keys,
    image,
    plans: new Plans(),
    terms: { quarantineStrikes: 5 },
    live: () => true,
  });
  image.relist([{ entries: [], revision: 0, incarnation: "one", more: false, serverTimeMs: 0 }]);
  let revision = 0;
  const collected = (values: Readonly<Record<string, unknown>>): unknown => {
    revision++;
    const changes = Object.entries(values).map(([key, value]): Change => {
      if (value === undefined) return { kind: "delete", key, revision };
      return { kind: "put", entry: { key, value: JSON.stringify(value), revision } };
    });
    model.note(image.apply(revision, changes));
    return model.collect(0).changes.contenders;
  };
  const tenure = keys.tenure(REPLICA);
  const contends = keys.contender(REPLICA, "b");
  const ready = [[0, [[expect.any(Number), "ready", 1]]]];
  expect(collected({ [keys.view("echo")]: view, [tenure]: tenureOf("a"), [contends]: contender })).toEqual(
    ready,
  );
  expect(collected({ [tenure]: undefined })).toEqual(ready);
  expect(collected({ [tenure]: tenureOf("b"), [contends]: undefined })).toEqual([[0, []]]);
  expect(collected({ [tenure]: tenureOf("a") })).toBeUndefined();
});

test("however many auctions end at once, the end of each is told", () => {
  const image = new StoreImage();
  const model = new FeedModel({
    keys,
    image,
    plans: new Plans(),
    terms: { quarantineStrikes: 5 },
    live: () => true,
  });
  image.relist([{ entries: [], revision: 0, incarnation: "one", more: false, serverTimeMs: 0 }]);
  const shards = 2_500;
  let revision = 0;
  const open = new Set<number>();
  const apply = (values: readonly (readonly [string, unknown])[]): void => {
    revision++;
    const changes = values.map(([key, value]): Change => ({
      kind: "put",
      entry: { key, value: JSON.stringify(value), revision },
    }));
    model.note(image.apply(revision, changes));
    for (let more = true; more;) {
      const collected = model.collect(0);
      expect(collected.changes.lots?.length ?? 0).toBeLessThanOrEqual(1_000);
      for (const { replica, closed } of collected.changes.lots ?? [])
        if (closed) open.delete(replica);
        else open.add(replica);
      ({ more } = collected);
    }
  };
  const each = (kind: (replica: string) => readonly [string, unknown]): (readonly [string, unknown])[] =>
    Array.from({ length: shards }, (_, shard) => kind(replicaKey("echo", String(shard), 0)));
  apply([[keys.view("echo"), { ...view, parameters: { ...view.parameters, shards } }]]);
  const round = (n: number) => (replica: string) =>
    [keys.auction("echo", "round", replica), { v: 1, n, empties: 0, unheldAt: 0, last: "none" }] as const;
  apply(each(round(1)));
  expect(open.size).toBe(shards);
  apply([...each((replica) => [keys.tenure(replica), tenureOf("a")]), ...each(round(2))]);
  expect(open.size).toBe(0);
});
