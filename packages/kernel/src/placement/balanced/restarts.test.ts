import { describe, expect, test } from "vitest";
import { restartedNodes, type BootFacts } from "./restarts.ts";

const quietMs = 60_000;
const old = (node: string, version = "1"): BootFacts => ({
  node,
  version,
  aliveMs: Infinity,
  returned: false,
});
const back = (node: string, aliveMs: number, version = "1"): BootFacts => ({
  node,
  version,
  aliveMs,
  returned: true,
});
const restarted = (...members: BootFacts[]): string => [...restartedNodes(members, quietMs)].sort().join(" ");

describe("restartedNodes", () => {
  test("names those that came back shortly after each other", () => {
    expect(restarted(old("a"), back("b", 10_000), back("c", 50_000), back("d", 100_000))).toBe("b c d");
  });

  test("leaves out what came back long before", () => {
    expect(restarted(back("a", 500_000), back("b", 10_000), back("c", 50_000))).toBe("b c");
  });

  test("names nobody once all are through, or nothing has happened for a while", () => {
    expect(restarted(back("a", 10_000), back("b", 50_000))).toBe("");
    expect(restarted(old("a"), back("b", 60_001))).toBe("");
    expect(restarted()).toBe("");
  });

  test("does not take a node that joins for one that was restarted", () => {
    expect(restarted(old("a"), { ...back("b", 5), returned: false })).toBe("");
  });

  test("goes by the version that came last, also when it is a lower one or the nodes have new names", () => {
    expect(restarted(old("a", "1.9"), old("b", "1.10"), back("c", 5, "1.10"))).toBe("b c");
    expect(restarted(old("a", "1.10"), back("c", 5, "1.9"))).toBe("c");
    expect(restarted(old("a", "1"), { ...back("new", 5, "2"), returned: false })).toBe("new");
    expect(restarted(old("a", "1"), back("c", 60_001, "2"))).toBe("");
  });
});
