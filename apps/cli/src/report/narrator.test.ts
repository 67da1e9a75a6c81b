import type { Decision } from "@keelson/kernel";
import { expect, test, vi } from "vitest";
import { Narrator } from "./narrator.ts";

function decision(kind: Decision["kind"], replica?: string, reason = "because"): Decision {
  return { at: 0, node: "a", kind, reason, ...(replica === undefined ? {} : { replica }) };
}

function narrate(decisions: readonly Decision[], everything = false): string[] {
  const lines: string[] = [];
  const narrator = new Narrator({ write: (line) => lines.push(line), everything });
  for (const each of decisions) narrator.decided(each);
  narrator.flush();
  return lines;
}

test("decisions of one moment and kind are one line, shards in the order of their numbers", () => {
  const live = ["10", "9", "1"].map((shard) => decision("live", `counter/${shard}/0`));
  expect(narrate([...live, decision("handed-over", "counter/3/0", "to b")])).toEqual([
    "holds counter 1 9 10",
    "handed over to b: counter 3",
  ]);
});

test("a long list of shards is cut, and says how many they are", () => {
  const live = Array.from({ length: 40 }, (_, n) => decision("live", `echo/${n}/0`));
  expect(narrate(live)).toEqual(["holds echo 0 1 2 3 4 5 6 7 8 9 10 11 … (40 shards)"]);
});

test("failures keep their own reasons, and steps on the way are left out", () => {
  expect(
    narrate([
      decision("contending", "echo/1/0"),
      decision("adopted", "echo/1/0"),
      decision("failed", "echo/1/0", "no disk"),
      decision("failed", "echo/1/0", "no disk"),
      decision("failed", "echo/2/0", "no memory"),
    ]),
  ).toEqual([
    "failed to open echo 1: no disk; it is tried again, the rest goes on",
    "failed to open echo 2: no memory; it is tried again, the rest goes on",
  ]);
});

test("everything means every decision, at once", () => {
  expect(narrate([decision("adopted", "echo/1/0"), decision("era")], true)).toEqual([
    "a adopted echo/1/0 because",
    "a era because",
  ]);
});

test("a burst is told by itself after a moment, and before a line that is said", () => {
  vi.useFakeTimers();
  try {
    const lines: string[] = [];
    const narrator = new Narrator({ write: (line) => lines.push(line) });
    narrator.decided(decision("live", "echo/1/0"));
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(lines).toEqual(["holds echo 1"]);
    narrator.decided(decision("lost", "echo/1/0"));
    narrator.say("the end");
    expect(lines).toEqual(["holds echo 1", "lost echo 1: because", "the end"]);
  } finally {
    vi.useRealTimers();
  }
});
