import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { tellRefusals, tellSeldom } from "./refusals.ts";

test("a thousand strangers in one second are two lines, and none of them is forgotten", async () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const tell = tellSeldom(clock, (line) => lines.push(line));
  for (let n = 0; n < 1_000; n++) tell("10.0.0.9:1", "no TLS");
  await clock.advance(1_000);
  tell("10.0.0.9:1", "no TLS");
  expect(lines).toEqual([
    "a connection from 10.0.0.9:1 was refused: no TLS",
    "a connection from 10.0.0.9:1 was refused: no TLS (and 999 more)",
  ]);
});

test("of connections that ended, only refused ones are told of", () => {
  const lines: string[] = [];
  const tell = tellRefusals(new ManualClock(), (line) => lines.push(line));
  tell("? at 10.0.0.9:1", new Error("the client is going away"));
  tell("? at 10.0.0.9:1", new Error("UNAUTHORISED: a refuses"));
  expect(lines).toEqual(["a connection from 10.0.0.9:1 was refused: UNAUTHORISED: a refuses"]);
});
