import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstActive, mayJoin, raisedActive } from "./protocol.ts";

describe("mayJoin", () => {
  test("welcomes a node that speaks the active version, and any node where none is active yet", () => {
    expect(mayJoin(2, { min: 1, max: 2 })).toEqual({ kind: "welcome" });
    expect(mayJoin(2, { min: 2, max: 5 })).toEqual({ kind: "welcome" });
    expect(mayJoin(undefined, { min: 3, max: 3 })).toEqual({ kind: "welcome" });
  });

  test("refuses one that is too old or too new, and says which to upgrade", () => {
    expect(mayJoin(3, { min: 1, max: 2 })).toEqual({
      kind: "refused",
      problem: "the fleet speaks protocol 3, this node speaks 1 to 2: upgrade this node",
    });
    expect(mayJoin(1, { min: 2, max: 3 })).toEqual({
      kind: "refused",
      problem:
        "the fleet speaks protocol 1, this node speaks 2 to 3: upgrade the fleet's other nodes first, through a release that speaks both",
    });
    expect(mayJoin(undefined, { min: 2, max: 1 })).toEqual({
      kind: "refused",
      problem: "protocol range 2 to 1 is empty",
    });
  });
});

describe("raisedActive", () => {
  test("rises to the lowest maximum once all speak it", () => {
    expect(
      raisedActive(1, [
        { min: 1, max: 1 },
        { min: 1, max: 3 },
      ]),
    ).toBe(1);
    expect(
      raisedActive(1, [
        { min: 1, max: 2 },
        { min: 1, max: 3 },
      ]),
    ).toBe(2);
  });

  test("stays when nobody is there, or when members have no version in common", () => {
    expect(raisedActive(4, [])).toBe(4);
    expect(
      raisedActive(1, [
        { min: 1, max: 2 },
        { min: 3, max: 3 },
      ]),
    ).toBe(1);
  });

  test("never falls, and never leaves behind a member that the fleet had welcomed", () => {
    const range = fc
      .tuple(fc.integer({ min: 1, max: 6 }), fc.nat({ max: 4 }))
      .map(([min, more]) => ({ min, max: min + more }));
    fc.assert(
      fc.property(fc.array(range, { minLength: 1 }), (ranges) => {
        let active = firstActive(ranges[0]!);
        const members: { min: number; max: number }[] = [];
        for (const each of ranges) {
          if (mayJoin(active, each).kind === "welcome") members.push(each);
          const raised = raisedActive(active, members);
          expect(raised).toBeGreaterThanOrEqual(active);
          active = raised;
          expect(members.every(({ min, max }) => min <= active && active <= max)).toBe(true);
        }
      }),
    );
  });
});
