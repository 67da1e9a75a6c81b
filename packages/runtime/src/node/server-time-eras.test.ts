import { expect, test } from "vitest";
import { ServerTimeEras } from "./server-time-eras.ts";

test("takes the store's clock when no greater era is known", async () => {
  expect(await new ServerTimeEras().next(0, 1_700_000_000_000.5)).toEqual({
    era: 1_700_000_000_000,
    fresh: false,
  });
});

test("never repeats or undercuts an era that is known, however wrong the store's clock is", async () => {
  const eras = new ServerTimeEras();
  expect((await eras.next(1_700_000_000_000, 5)).era).toBe(1_700_000_000_001);
  expect((await eras.next(1_700_000_000_000, 1_700_000_000_000)).era).toBe(1_700_000_000_001);
});

test("skips the wait of the first era only when the fleet promised that nobody holds anything", async () => {
  expect((await new ServerTimeEras({ fresh: true }).next(0, 1)).fresh).toBe(true);
  expect((await new ServerTimeEras({ fresh: true }).next(7, 1)).fresh).toBe(false);
  expect((await new ServerTimeEras().next(0, 1)).fresh).toBe(false);
});
