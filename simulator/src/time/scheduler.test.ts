import { describe, expect, it } from "vitest";
import { EventHeap, Happening } from "./event-heap.ts";
import { Scheduler } from "./scheduler.ts";

class Nothing extends Happening {
  constructor(at: number, sequence: number) {
    super();
    this.at = at;
    this.sequence = sequence;
  }

  happen(): void {}
}

describe("EventHeap", () => {
  it("gives events by time, and in the order of scheduling where times are equal", () => {
    const heap = new EventHeap();
    const times = [5, 1, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    for (const [sequence, at] of times.entries()) heap.push(new Nothing(at, sequence));
    const popped = times.map(() => heap.pop()!).map(({ at, sequence }) => [at, sequence]);
    expect(popped).toEqual(times.map((at, i) => [at, i]).sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!));
    expect(heap.pop()).toBeUndefined();
  });

  it("keeps the order of the rest when one in the middle is taken out", () => {
    const heap = new EventHeap();
    const times = [7, 3, 9, 1, 8, 2, 6, 5, 4, 0, 3, 7, 1];
    const items = times.map((at, sequence) => new Nothing(at, sequence));
    for (const item of items) heap.push(item);
    const gone = [items[1]!, items[5]!, items[9]!, items[12]!, items[1]!];
    for (const item of gone) heap.remove(item);
    const left = items.filter((item) => !gone.includes(item)).map(({ at }) => at);
    expect(left.map(() => heap.pop()?.at)).toEqual(left.sort((a, b) => a - b));
    expect(heap.size).toBe(0);
  });
});

describe("Scheduler", () => {
  it("carries every promise chain through before the next event, however long the chain", async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    const chain = async (name: string, length: number): Promise<void> => {
      for (let i = 0; i < length; i++) await Promise.resolve();
      seen.push(`${name} done at ${scheduler.now}`);
    };
    scheduler.at(1, () => void chain("long", 500));
    scheduler.at(1, () => void chain("short", 1));
    scheduler.at(2, () => seen.push("two"));
    await scheduler.run(10);
    expect(seen).toEqual(["long done at 1", "short done at 1", "two"]);
    expect(scheduler.now).toBe(10);
  });

  it("runs what an event schedules for the same instant after what was already due then", async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    scheduler.at(1, () => {
      scheduler.after(0, () => seen.push("third"));
      seen.push("first");
    });
    scheduler.at(1, () => seen.push("second"));
    await scheduler.run(1);
    expect(seen).toEqual(["first", "second", "third"]);
  });

  it("leaves what lies beyond the end for the next run, and forgets what was cancelled", async () => {
    const scheduler = new Scheduler();
    const seen: number[] = [];
    for (const at of [1, 2, 3]) scheduler.at(at, () => seen.push(at));
    scheduler.cancel(scheduler.at(2, () => seen.push(99)));
    await scheduler.run(2);
    expect(seen).toEqual([1, 2]);
    await scheduler.run(3);
    expect(seen).toEqual([1, 2, 3]);
  });

  it("fails with what an event throws", async () => {
    const scheduler = new Scheduler();
    scheduler.at(1, () => {
      throw new Error("a bug in a driver");
    });
    await expect(scheduler.run(2)).rejects.toThrow("a bug in a driver");
  });

  it("takes a breath now and then and loses nothing by it", async () => {
    const scheduler = new Scheduler();
    let ran = 0;
    for (let i = 0; i < 12_345; i++) scheduler.at(i / 100, () => ran++);
    await scheduler.run(1_000);
    expect(ran).toBe(12_345);
  });
});
