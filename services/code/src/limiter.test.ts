import { expect, test } from "vitest";
import { Limiter } from "./limiter.ts";

test("so many run at once, the others in order, and a failure frees its place", async () => {
  const limiter = new Limiter(2);
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string, fails = false) =>
    limiter
      .run(async () => {
        log.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (fails) throw new Error(name);
      })
      .catch(() => log.push(`${name} failed`));
  const all = [work("a", true), work("b"), work("c"), work("d")];
  expect([log, limiter.running, limiter.waiting]).toEqual([["a", "b"], 2, 2]);
  ends[0]!();
  await all[0];
  expect(log).toEqual(["a", "b", "c", "a failed"]);
  ends[1]!();
  await all[1];
  ends[2]!();
  ends[3]!();
  await Promise.all(all);
  expect([limiter.running, limiter.waiting]).toEqual([0, 0]);
});

test("who no longer wants it leaves the line at once, and takes no place of those behind", async () => {
  const limiter = new Limiter(1);
  let end = (): void => undefined;
  const first = limiter.run(() => new Promise<void>((resolve) => (end = resolve)));
  const leaving = new AbortController();
  const log: string[] = [];
  const second = limiter
    .run(() => Promise.resolve(log.push("second")), leaving.signal)
    .catch(() => log.push("left"));
  const third = limiter.run(() => Promise.resolve(log.push("third")));
  leaving.abort();
  await second;
  expect([log, limiter.running, limiter.waiting]).toEqual([["left"], 1, 1]);
  end();
  await Promise.all([first, third]);
  expect([log, limiter.running, limiter.waiting]).toEqual([["left", "third"], 0, 0]);
  const late = await limiter.run(() => Promise.resolve("ran"), leaving.signal).catch(() => "refused");
  expect(late).toBe("refused");
});

test("work that is no one function has its place until it says so", async () => {
  const limiter = new Limiter(1);
  const leave = await limiter.enter();
  const log: string[] = [];
  const next = limiter.enter().then((end) => (log.push("next"), end));
  await Promise.resolve();
  expect([log, limiter.running, limiter.waiting]).toEqual([[], 1, 1]);
  leave();
  (await next)();
  expect([log, limiter.running, limiter.waiting]).toEqual([["next"], 0, 0]);
});
