import { InterceptedObjects, MemoryObjects, ObjectError } from "@keelson/objects";
import { ManualClock } from "@keelson/testkit";
import { beforeEach, expect, test } from "vitest";
import { Journals } from "./journals.ts";

const epoch = (revision: number) => ({ era: 1, revision });

let clock: ManualClock;
let isAway = false;
let journals: Journals;
const failures: number[] = [];
const told = (_: unknown, againMs: number): void => void failures.push(againMs);
beforeEach(() => {
  [clock, isAway] = [new ManualClock(), false];
  failures.length = 0;
  const objects = new InterceptedObjects(new MemoryObjects(), (_call, _key, apply) =>
    isAway ? Promise.reject(new ObjectError("OBJECT_DENIED", "it is away")) : apply(),
  );
  journals = new Journals({ objects, node: "a", clock, random: () => 0.5, gatherMs: 0 });
});

/** Breaks the journal that is open, and leaves objects away. */
async function breakIt(): Promise<void> {
  const { journal } = await journals.open(epoch(1));
  isAway = true;
  const written = journal
    .stream("s", epoch(1))
    .append(Buffer.from("x"))
    .catch((error: unknown) => error);
  await clock.advance(0);
  expect(await written).toMatchObject({ code: "JOURNAL_UNKNOWN" });
}

test("a journal is opened anew until it can be written, with pauses that grow, and nobody has it meanwhile", async () => {
  await breakIt();
  const mended = journals.mend(told);
  expect(journals.isBroken).toBe(true);
  const refused = await journals.open(epoch(2)).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "JOBS_CLOSED" });
  await clock.advance(20_000);
  expect(failures.slice(0, 4)).toEqual([200, 400, 800, 1_600]);
  expect(Math.max(...failures)).toBe(5_000);
  isAway = false;
  await clock.advance(6_000);
  expect(await mended).toBe(true);
  expect(journals.isBroken).toBe(false);
  const { journal } = await journals.open(epoch(2));
  expect(await journal.stream("s", epoch(2)).append(Buffer.from("y"))).toBeGreaterThan(0);
  await journals.close();
});

test("one that breaks again soon after it was mended is not tried again at once", async () => {
  await breakIt();
  isAway = false;
  expect(await journals.mend(told)).toBe(true);
  await breakIt();
  isAway = false;
  const again = journals.mend(told);
  await clock.advance(100);
  expect(journals.isBroken).toBe(true);
  await clock.advance(200);
  expect(await again).toBe(true);
  await clock.advance(60_000);
  await breakIt();
  isAway = false;
  const late = journals.mend(told);
  await clock.advance(0);
  expect([await late, failures]).toEqual([true, []]);
});

test("closing ends the tries", async () => {
  await breakIt();
  const mended = journals.mend(told);
  await clock.advance(3_000);
  await journals.close();
  expect(await mended).toBe(false);
  expect(clock.timers).toBe(0);
});
