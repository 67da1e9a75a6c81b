import { describe, expect, test } from "vitest";
import { moves } from "./moves.ts";
import type { Plan } from "./plan.ts";

describe("moves", () => {
  test("lists new, moved and dropped replicas, each once", () => {
    const line = (name?: string) => ({ candidates: name === undefined ? [] : [name], reason: "" });
    const of = (lines: Record<string, string | undefined>): Plan => ({
      viewN: 1,
      parameters: { shards: 1, replicas: 1, placement: {} },
      lines: new Map(Object.entries(lines).map(([key, name]) => [key, line(name)])),
    });
    const before = of({ "s/0/0": "a", "s/1/0": "a", "s/2/0": "a", "s/3/0": undefined });
    const after = of({ "s/0/0": "a", "s/1/0": "b", "s/3/0": "c", "s/4/0": undefined });
    expect(moves(before, after)).toEqual([
      { replica: "s/1/0", from: "a", to: "b" },
      { replica: "s/3/0", from: undefined, to: "c" },
      { replica: "s/2/0", from: "a", to: undefined },
    ]);
  });
});
