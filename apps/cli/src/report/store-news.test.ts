import { expect, test } from "vitest";
import { StoreNews } from "./store-news.ts";

/** A store that is as the test says, and what people are told of it. */
class Scene {
  live = false;
  trouble: string | undefined;
  readonly lines: string[] = [];
  readonly news: StoreNews;
  #now = 0;

  constructor() {
    this.news = new StoreNews({
      mirror: this,
      say: (line) => this.lines.push(line),
      meanwhile: "all goes on",
      now: () => this.#now,
    });
  }

  /** What is said meanwhile. */
  after(ms: number): string[] {
    for (const until = this.#now + ms; this.#now < until; this.#now += 500) this.news.look();
    return this.lines.splice(0);
  }
}

test("a store that answers soon is not worth a word", () => {
  const scene = new Scene();
  expect(scene.after(1_500)).toEqual([]);
  scene.live = true;
  expect(scene.after(60_000)).toEqual([]);
});

test("one that does not answer is told with the reason, again when that changes, and ever less often while it lasts", () => {
  const scene = new Scene();
  expect(scene.after(3_000)).toEqual(["the store does not answer yet; it is tried again until it does"]);
  scene.trouble = "nothing listens there (next try in 20 ms)";
  expect(scene.after(1_000)).toEqual([
    "the store has not answered for 3 s: nothing listens there (next try in 20 ms)",
  ]);
  scene.trouble = "nothing listens there (next try in 700 ms)";
  expect(scene.after(10_000)).toEqual([]);
  expect(scene.after(15_000)).toEqual([
    "the store has not answered for 23 s: nothing listens there (next try in 700 ms)",
  ]);
  // Two reasons that take turns are not told in turns.
  const told = Array.from({ length: 20 }, (_, n) => {
    scene.trouble = n % 2 === 0 ? "no answer within 2000 ms" : "nothing listens there";
    return scene.after(1_000);
  });
  expect(told.flat()).toEqual(["the store has not answered for 29 s: no answer within 2000 ms"]);
  expect(scene.after(300_000).length).toBeLessThan(7);
  scene.live = true;
  expect(scene.after(5_000)).toEqual(["the store answers"]);
});

test("one that goes away is told with what it means, and for how long it has been silent is known", () => {
  const scene = new Scene();
  scene.live = true;
  scene.after(1_000);
  expect(scene.news.silentMs).toBe(0);
  scene.live = false;
  scene.trouble = "the connection was lost";
  expect(scene.after(1_000)).toEqual(["the store does not answer (the connection was lost): all goes on"]);
  expect(scene.news.silentMs).toBe(1_000);
});
