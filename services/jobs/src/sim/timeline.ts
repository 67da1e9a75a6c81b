/** Virtual time: events run in order of their time, and of their making where times are equal. */
import { Heap, type HeapItem } from "../engine/structure/heap.ts";

interface Event extends HeapItem {
  readonly atMs: number;
  readonly number: number;
  readonly run: () => void;
}

export class Timeline {
  readonly #events = new Heap<Event>((a, b) => (a.atMs === b.atMs ? a.number < b.number : a.atMs < b.atMs));
  #number = 0;
  nowMs = 0;

  after(delayMs: number, run: () => void): void {
    this.#events.push({ atMs: this.nowMs + Math.max(0, delayMs), number: ++this.#number, run, slot: -1 });
  }

  /** Runs until nothing is left before `untilMs`, or `eventsMax` have run. Gives how many did. */
  run(untilMs: number, eventsMax: number): number {
    let ran = 0;
    for (; ran < eventsMax; ran++) {
      const event = this.#events.peek();
      if (event === undefined || event.atMs > untilMs) break;
      this.#events.remove(event);
      this.nowMs = event.atMs;
      event.run();
    }
    if (ran < eventsMax && this.nowMs < untilMs) this.nowMs = untilMs;
    return ran;
  }
}
