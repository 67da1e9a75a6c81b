import { expect, test } from "vitest";
import { abortSignal } from "../service/abort-signal.ts";
import { EitherSignal, Ending, Slot } from "./slot.ts";

test("an ending tells its listeners once, and those that left not at all", () => {
  const ending = new Ending();
  const heard: string[] = [];
  const leaves = (): void => void heard.push("left");
  ending.addEventListener("abort", () => void heard.push("stayed"));
  ending.addEventListener("abort", leaves);
  ending.removeEventListener("abort", leaves);
  ending.abort();
  ending.abort();
  expect([ending.aborted, heard]).toEqual([true, ["stayed"]]);
});

test("either of two signals is aborted when one of them is", () => {
  const [one, other] = [new Ending(), new Ending()];
  const either = new EitherSignal(one, other);
  let heard = 0;
  either.addEventListener("abort", () => heard++);
  expect(either.aborted).toBe(false);
  other.abort();
  expect([either.aborted, heard]).toEqual([true, 1]);
});

test("becomes a platform signal for those who need one", () => {
  const ending = new Ending();
  const platform = abortSignal(ending);
  expect(platform.aborted).toBe(false);
  ending.abort();
  expect(platform.aborted).toBe(true);
  expect(abortSignal(ending).aborted).toBe(true);
  expect(abortSignal(platform)).toBe(platform);
});

test("a slot says when the last request has left it", () => {
  const slot = new Slot();
  let idle = 0;
  slot.idle = () => idle++;
  slot.enter();
  slot.enter();
  slot.exit();
  expect(idle).toBe(0);
  slot.exit();
  expect(idle).toBe(1);
});
