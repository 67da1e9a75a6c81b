import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { BodyBudget } from "./http/body.ts";
import { RouteGate, Shedding } from "./shedding.ts";

const shedWith = (reason: string): unknown =>
  expect.objectContaining({ code: "SHED", status: 429, details: { reason } });

test("lets in as many as the limit, and one more for each that ends", () => {
  const shedding = new Shedding({ inflightMax: 2, loopLagMsMax: 500 }, new ManualClock());
  shedding.enter();
  shedding.enter();
  expect(() => shedding.enter()).toThrow(shedWith("inflight"));
  shedding.exit();
  shedding.enter();
  expect(shedding.inflight).toBe(2);
});

test("one operation's limit leaves the others alone", () => {
  const [busy, other] = [new RouteGate(1), new RouteGate(1)];
  busy.enter();
  expect(() => busy.enter()).toThrow(shedWith("route"));
  other.enter();
  busy.exit();
  busy.enter();
});

test("bodies in memory have a limit together", () => {
  const budget = new BodyBudget(100);
  budget.take(60);
  expect(() => budget.take(41)).toThrow(shedWith("memory"));
  budget.give(60);
  budget.take(100);
  expect(budget.bytes).toBe(100);
});

/** A clock whose timers fire as late as it is told. */
class LateClock extends ManualClock {
  lateMs = 0;
  override after(delayMs: number, run: () => void): { cancel(): void } {
    return super.after(delayMs + this.lateMs, run);
  }
}

test("sheds while the event loop is late again and again, not after one stall", async () => {
  const clock = new LateClock();
  const shedding = new Shedding({ inflightMax: 100, loopLagMsMax: 500 }, clock);
  shedding.start();
  await clock.advance(200);
  clock.lateMs = 800;
  await clock.advance(900);
  clock.lateMs = 0;
  await clock.advance(900);
  shedding.enter();
  clock.lateMs = 800;
  await clock.advance(5_000);
  expect(() => shedding.enter()).toThrow(shedWith("lag"));
  expect(shedding.lagMs).toBe(800);
  clock.lateMs = 0;
  await clock.advance(2_000);
  shedding.enter();
  shedding.stop();
});
