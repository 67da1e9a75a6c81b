import { expect, test } from "vitest";
import { Progress } from "./progress.ts";

function watch(isTTY: boolean): { progress: Progress; written: string[]; pass: (ms: number) => void } {
  const written: string[] = [];
  let now = 0;
  const output = { isTTY, columns: 40, write: (text: string) => written.push(text) };
  return {
    progress: new Progress(output, () => now),
    written,
    pass: (ms) => {
      now += ms;
    },
  };
}

test("what is over within a second shows nothing", () => {
  const { progress, written, pass } = watch(true);
  pass(900);
  progress.show("working");
  progress.done();
  expect(written).toEqual([]);
});

test("on a terminal one line is drawn over, with a bar, and taken away in the end", () => {
  const { progress, written, pass } = watch(true);
  pass(1_500);
  progress.show("half", 0.5);
  progress.done();
  expect(written[0]).toMatch(/^\r.*█{10}.*░{10}.* half/);
  expect(written[1]).toBe("\r\u001B[K");
});

test("elsewhere a line is printed now and then", () => {
  const { progress, written, pass } = watch(false);
  for (let second = 0; second < 12; second++) {
    pass(1_000);
    progress.show(`${second}`);
  }
  progress.done();
  expect(written).toEqual(["0\n", "5\n", "10\n"]);
});
