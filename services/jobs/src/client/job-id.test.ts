import { expect, test } from "vitest";
import { newJobId } from "./job-id.ts";

test("ids are UUIDs of version 7 with the time in front, and rise, also when the clock does not", () => {
  const nowMs = Date.UTC(2040, 0, 1);
  const ids = Array.from({ length: 20_000 }, () => newJobId(nowMs));
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(ids[0]!.replace("-", "").slice(0, 12), 16)).toBe(nowMs);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  expect(newJobId(nowMs - 60_000) > ids.at(-1)!).toBe(true);
});
