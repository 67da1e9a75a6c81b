import { expect, test } from "vitest";
import { StandBys } from "./stand-bys.ts";

test("what nobody holds is due when its time has come, once", () => {
  const standBys = new StandBys();
  standBys.add("s/1/0", 100);
  standBys.add("s/2/0", 100);
  standBys.add("s/3/0", 200);
  expect(standBys.next()).toBe(100);
  expect(standBys.due(99)).toEqual([]);
  expect(standBys.due(100)).toEqual(["s/1/0", "s/2/0"]);
  expect(standBys.due(150)).toEqual([]);
  expect(standBys.next()).toBe(200);
});

test("what somebody holds is never due", () => {
  const standBys = new StandBys();
  standBys.add("s/1/0", 100);
  standBys.add("s/2/0", Infinity);
  standBys.held("s/1/0");
  expect(standBys.due(1_000)).toEqual([]);
  expect(standBys.has("s/1/0")).toBe(true);
});

test("another plan of a service replaces its own only, and its times", () => {
  const standBys = new StandBys();
  standBys.add("s/1/0", 100);
  standBys.add("st/1/0", 100);
  standBys.clear("s");
  expect(standBys.has("s/1/0")).toBe(false);
  standBys.add("s/1/0", 300);
  expect(standBys.due(100)).toEqual(["st/1/0"]);
  expect(standBys.due(300)).toEqual(["s/1/0"]);
});

test("what was forgotten is not due", () => {
  const standBys = new StandBys();
  standBys.add("s/1/0", 100);
  standBys.forget("s/1/0");
  expect(standBys.due(100)).toEqual([]);
});
