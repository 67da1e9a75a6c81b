import { expect, test } from "vitest";
import { AUCTION } from "../auction/placement.ts";
import type { Proposal } from "../control/controller.ts";
import { Keys } from "../identity/keys.ts";
import { RING } from "../placement/ring.ts";
import type { Entry } from "../store/contract.ts";
import { operatorController } from "./operator-controller.ts";

const keys = new Keys("f");
const wish = { v: 1, by: "ann", reason: "new disk", since: 5 } as const;

function entry(key: string, value: unknown, revision = 3): Entry {
  return { key, revision, value: JSON.stringify(value) };
}

function reconcile(entries: readonly Entry[]): readonly Proposal[] {
  const get = (key: string): Entry | undefined => entries.find((each) => each.key === key);
  return operatorController.reconcile({ keys, now: 0, get, entries: () => entries });
}

function held(replica: string, node: string, revision = 9): Entry {
  return entry(keys.tenure(replica), { v: 1, node, session: `session of ${node}` }, revision);
}

test("a wish to move a replica ends when it has arrived, guarded on both", () => {
  const pin = entry(keys.pin("s", "7", 0), { ...wish, node: "b", once: true }, 4);
  expect(reconcile([pin, held("s/7/0", "a")])).toEqual([]);
  expect(reconcile([pin])).toEqual([]);
  const [proposal] = reconcile([pin, held("s/7/0", "b")]);
  expect(proposal?.commit).toEqual({
    guards: [
      { key: pin.key, revision: 4 },
      { key: keys.tenure("s/7/0"), revision: 9 },
    ],
    writes: [{ kind: "delete", key: pin.key }],
  });
  expect(proposal?.reason).toContain("as ann wished");
});

test("a pin that is not for once stays", () => {
  expect(reconcile([entry(keys.pin("s", "7", 0), { ...wish, node: "b" }), held("s/7/0", "b")])).toEqual([]);
});

test("what a drained node holds of an auctioned service is put up for auction, once and a few at a time", () => {
  const services = [
    entry(keys.view("s"), { algorithm: AUCTION }),
    entry(keys.view("r"), { algorithm: RING }),
  ];
  const tenures = Array.from({ length: 20 }, (_, n) => held(`s/${n}/0`, n < 12 ? "a" : "b"));
  const fleet = [...services, ...tenures, held("r/0/0", "a"), entry(keys.drain("a"), wish)];
  const proposals = reconcile(fleet);
  expect(proposals).toHaveLength(8);
  expect(proposals[0]?.commit.guards).toEqual([
    { key: keys.auction("s", "move", "s/0/0"), revision: 0 },
    { key: keys.tenure("s/0/0"), revision: 9 },
  ]);
  const requests = proposals.map(({ commit }) => {
    const [write] = commit.writes;
    if (write?.kind !== "put") throw new Error("not a put");
    return entry(write.key, JSON.parse(write.value));
  });
  expect(requests[0]?.value).toContain('"fromSession":"session of a"');
  expect(reconcile([...fleet, ...requests])).toEqual([]);
});

test("a fleet without wishes is left alone", () => {
  expect(reconcile([entry(keys.view("s"), { algorithm: AUCTION }), held("s/1/0", "a")])).toEqual([]);
});
