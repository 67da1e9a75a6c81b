import { expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import {
  lowerAfterDrain,
  maxBidsDiverges,
  maxBidsFromEnvironment,
  raiseBeforeJoin,
  setMaxBids,
} from "./scaling.ts";

const keys = new Keys("f");
const key = "/keelson/f/auction/code/config";
const known = { value: { v: 1 as const, maxBids: 5 }, revision: 7 };

test("sets, raises and lowers the configured number, guarded on what was read", () => {
  expect(setMaxBids(keys, "code", undefined, 3)).toEqual({
    guards: [{ key, revision: 0 }],
    writes: [{ kind: "put", key, value: '{"v":1,"maxBids":3}' }],
  });
  expect(raiseBeforeJoin(keys, "code", known, 2)).toEqual({
    guards: [{ key, revision: 7 }],
    writes: [{ kind: "put", key, value: '{"v":1,"maxBids":7}' }],
  });
  expect(lowerAfterDrain(keys, "code", known, 9)?.writes).toEqual([
    { kind: "put", key, value: '{"v":1,"maxBids":1}' },
  ]);
  expect(setMaxBids(keys, "code", known, undefined).writes).toEqual([{ kind: "put", key, value: '{"v":1}' }]);
});

test("there is nothing to raise or lower while live bidders are counted", () => {
  expect(raiseBeforeJoin(keys, "code", undefined, 2)).toBeUndefined();
  expect(lowerAfterDrain(keys, "code", { value: { v: 1 }, revision: 7 }, 2)).toBeUndefined();
});

test("reads ZOEKT_MAX_BIDS, and says what is wrong with it", () => {
  expect(maxBidsFromEnvironment({})).toEqual({});
  expect(maxBidsFromEnvironment({ ZOEKT_MAX_BIDS: "12" })).toEqual({ maxBids: 12 });
  expect(maxBidsFromEnvironment({ ZOEKT_MAX_BIDS: "many" }).problem).toMatch(
    /"many": make it a whole number/,
  );
  expect(maxBidsFromEnvironment({ ZOEKT_MAX_BIDS: "0" }).problem).toBeDefined();
});

test("a number far from the fleet's size diverges", () => {
  expect(maxBidsDiverges(10, 10)).toBe(false);
  expect(maxBidsDiverges(16, 10)).toBe(true);
  expect(maxBidsDiverges(4, 10)).toBe(true);
  expect(maxBidsDiverges(undefined, 10)).toBe(false);
});
