import { describe, expect, it } from "vitest";
import { SimProcess } from "./process.ts";
import { MachineClock } from "./time/machine-clock.ts";
import { Scheduler } from "./time/scheduler.ts";

function rig(rate = 1): {
  scheduler: Scheduler;
  process: SimProcess;
  seen: string[];
  note: (what: string) => () => void;
} {
  const scheduler = new Scheduler();
  const process = new SimProcess(
    "p",
    scheduler,
    new MachineClock({ rate, offsetMs: 5_000, wallMs: 1_000_000 }),
  );
  process.start();
  const seen: string[] = [];
  return {
    scheduler,
    process,
    seen,
    note: (what) => () => void seen.push(`${what} at ${scheduler.now.toFixed(1)}`),
  };
}

describe("SimProcess", () => {
  it("counts time at its machine's own rate, and a timer is never early by its own clock", async () => {
    const { scheduler, process } = rig(1.02);
    const begin = process.clock.now();
    let elapsed = 0;
    process.clock.after(1_000, () => (elapsed = process.clock.now() - begin));
    await scheduler.run(2_000);
    expect(elapsed).toBeGreaterThanOrEqual(1_000);
    expect(elapsed).toBeLessThan(1_000.001);
    expect(process.clock.now() - begin).toBeCloseTo(2_040);
  });

  it("steps the wall clock without touching the monotonic one", () => {
    const { process } = rig();
    const [now, wall] = [process.clock.now(), process.clock.wall()];
    process.machine.stepWall(-500);
    expect(process.clock.now()).toBe(now);
    expect(process.clock.wall()).toBe(wall - 500);
  });

  it("runs nothing while it is paused, and afterwards everything in the order it fell due", async () => {
    const { scheduler, process, seen, note } = rig();
    process.clock.after(10, note("before"));
    process.clock.after(30, note("b"));
    scheduler.at(25, () => process.enter(process.life, note("a")));
    process.clock.after(90, note("after"));
    scheduler.at(20, () => process.pause(50));
    await scheduler.run(100);
    expect(seen).toEqual(["before at 10.0", "a at 70.0", "b at 70.0", "after at 90.0"]);
  });

  it("can be resumed early, and loses nothing by it", async () => {
    const { scheduler, process, seen, note } = rig();
    process.pause(50);
    process.clock.after(10, note("timer"));
    scheduler.at(20, () => process.resume());
    await scheduler.run(100);
    expect(seen).toEqual(["timer at 20.0"]);
  });

  it("drops with a crash all that it had, also what a pause held back", async () => {
    const { scheduler, process, seen, note } = rig();
    const { life } = process;
    process.clock.after(30, note("timer"));
    process.pause(20);
    process.clock.after(5, note("deferred"));
    process.atEnd(note("end"));
    scheduler.at(10, () => process.crash());
    scheduler.at(15, () => process.start());
    scheduler.at(40, () => process.enter(life, note("reply to the former life")));
    await scheduler.run(100);
    expect(seen).toEqual(["end at 10.0"]);
    expect(process.paused).toBe(false);
  });

  it("can be paused between making a message and sending it", async () => {
    const { scheduler, process, seen, note } = rig();
    process.pauseAtSend(40);
    scheduler.at(10, () => process.send(note("left")));
    scheduler.at(20, () => process.enter(process.life, note("timer")));
    await scheduler.run(100);
    expect(seen).toEqual(["left at 50.0", "timer at 50.0"]);
  });

  it("forgets a timer that was cancelled, even one that waits for the end of a pause", async () => {
    const { scheduler, process, seen, note } = rig();
    const timer = process.clock.after(10, note("timer"));
    process.pause(50);
    scheduler.at(20, () => timer.cancel());
    await scheduler.run(100);
    expect(seen).toEqual([]);
  });
});
