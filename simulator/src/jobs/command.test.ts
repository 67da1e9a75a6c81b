import { describe, expect, it } from "vitest";
import { readJobsArguments, runJobs } from "./command.ts";

const read = (text: string) => readJobsArguments(text.split(" "));

describe("the scenario jobs", () => {
  it("has flags of its own, and leaves other scenarios alone", () => {
    expect(read("--scenario jobs --seeds 10000")).toEqual({ seed: 1, seeds: 10_000 });
    expect(read("--scenario=jobs --seed=7")).toEqual({ seed: 7, seeds: 1 });
    expect(read("--scenario default")).toBeUndefined();
    expect(read("--scenario jobs --nodes 3")).toContain('does not know "--nodes"');
    expect(read("--scenario jobs --seeds many")).toContain("whole numbers");
    expect(read("--scenario jobs --seed 3 --break limits")).toEqual({ seed: 3, seeds: 1, broken: "limits" });
    expect(read("--scenario jobs --break law")).toContain('no rule "law" to break');
  });

  it("says what ran, and that no promise was broken", () => {
    let said = "";
    expect(runJobs({ seed: 1, seeds: 5 }, (text) => (said += text))).toBe(0);
    expect(said).toContain("seeds: 5, jobs ");
    expect(said).toContain("violations: 0");
  });
});
