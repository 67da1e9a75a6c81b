import { describe, expect, test } from "vitest";
import { AnswerChecks, WriteChecks, overlaps } from "./checks.ts";
import { TenureSpans } from "./tenures.ts";

/** `["b-1", 7, 20]`: process b-1 admitted under epoch 1.7 at instant 20. */
function admitted(...passes: readonly (readonly [string, number, number])[]): string[] {
  const spans = new TenureSpans();
  for (const [process, revision, atNs] of passes) spans.add(process, ["0", 1, revision, atNs]);
  return [...spans.byShard()].flatMap((ofShard) => overlaps(ofShard)).map(({ what }) => what);
}

describe("overlaps", () => {
  test("are none when each tenure admits after the one before", () => {
    expect(admitted(["a-1", 5, 10], ["a-1", 5, 19], ["b-1", 7, 20], ["b-1", 7, 30], ["a-1", 9, 31])).toEqual(
      [],
    );
  });

  test("are none when the order of lines is not that of instants", () => {
    expect(admitted(["b-1", 7, 30], ["b-1", 7, 20], ["a-1", 5, 19], ["a-1", 5, 10])).toEqual([]);
  });

  test("are found when the former holder admits between two admissions of its successor", () => {
    expect(admitted(["a-1", 5, 10], ["b-1", 7, 20], ["a-1", 5, 21], ["b-1", 7, 30])).toEqual([
      expect.stringContaining("a-1 under 1.5 and b-1 under 1.7: the first still admitted"),
    ]);
  });

  test("are found when the former holder admits once more after its successor has gone", () => {
    expect(admitted(["b-1", 7, 20], ["a-1", 5, 25])).toHaveLength(1);
  });

  test("are found across a tenure that admitted nothing late", () => {
    expect(admitted(["a-1", 5, 10], ["b-1", 7, 20], ["c-1", 9, 30], ["a-1", 5, 40])).toHaveLength(2);
  });

  test("are found when two processes admit under one epoch", () => {
    expect(admitted(["a-1", 5, 10], ["a-2", 5, 20])).toEqual([
      expect.stringContaining("one epoch, two processes"),
    ]);
  });

  test("are found when an epoch falls", () => {
    expect(admitted(["a-1", 7, 10], ["b-1", 5, 20])).toHaveLength(1);
  });

  test("know shards apart", () => {
    const spans = new TenureSpans();
    spans.add("a-1", ["0", 1, 5, 30]);
    spans.add("b-1", ["1", 1, 7, 20]);
    expect([...spans.byShard()].flatMap((ofShard) => overlaps(ofShard))).toEqual([]);
    expect(spans.size).toBe(2);
  });
});

describe("writes", () => {
  const epoch = (revision: number) => ({ era: 1, revision });

  test("are fine when epochs rise and values follow each other", () => {
    const checks = new WriteChecks();
    checks.raised("0", epoch(5));
    checks.wrote("0", epoch(5), 1);
    checks.wrote("0", epoch(5), 2);
    checks.raised("0", epoch(7));
    checks.wrote("0", epoch(7), 3);
    checks.wrote("1", epoch(2), 1);
    expect(checks.violations).toEqual([]);
  });

  test("are stale below an epoch that was raised", () => {
    const checks = new WriteChecks();
    checks.raised("0", epoch(7));
    checks.wrote("0", epoch(5), 1);
    expect(checks.violations.map(({ kind }) => kind)).toEqual(["stale-write"]);
  });

  test("are stale below an epoch of an older era, whatever the revision", () => {
    const checks = new WriteChecks();
    checks.raised("0", { era: 2, revision: 1 });
    checks.wrote("0", { era: 1, revision: 9 }, 1);
    expect(checks.violations).toHaveLength(1);
  });

  test("lose an update when they do not build on the last one", () => {
    const checks = new WriteChecks();
    checks.wrote("0", epoch(5), 1);
    checks.wrote("0", epoch(7), 1);
    expect(checks.violations.map(({ kind }) => kind)).toEqual(["lost-update"]);
  });
});

describe("answers", () => {
  const epoch = (revision: number) => ({ era: 1, revision });

  test("may come from a lower epoch when both requests were under way at once", () => {
    const checks = new AnswerChecks();
    checks.answered("0", epoch(7), 10, 20);
    checks.answered("0", epoch(5), 19, 30);
    expect(checks.violations).toEqual([]);
  });

  test("may not come from a lower epoch than one that had answered before the request was sent", () => {
    const checks = new AnswerChecks();
    checks.answered("0", epoch(7), 10, 20);
    checks.answered("1", epoch(5), 21, 30);
    expect(checks.violations).toEqual([]);
    checks.answered("0", epoch(5), 21, 30);
    expect(checks.violations.map(({ kind }) => kind)).toEqual(["stale-answer"]);
  });
});
