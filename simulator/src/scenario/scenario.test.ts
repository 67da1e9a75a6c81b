import { describe, expect, it } from "vitest";
import { Streams } from "../chance/streams.ts";
import { loadScenario, scenarioNames } from "./files.ts";
import { drawKnobs } from "./knobs.ts";
import { readScenario } from "./scenario.ts";

const least = { about: "a test", fleet: { nodes: 3, shards: 4 } };

describe("scenario files", () => {
  it("are all readable, and stay within the clock rates that the protocol assumes", () => {
    expect(scenarioNames()).toContain("default");
    for (const name of scenarioNames()) {
      const { knobs } = loadScenario(name);
      const drift = knobs.drift[1];
      // The slowest node against the fastest store.
      expect((1 + drift / 2) / (1 - drift)).toBeLessThan(1.05);
    }
  });

  it("need little more than a size", () => {
    const scenario = readScenario("least", least);
    expect(scenario.fleet).toMatchObject({ nodes: 3, shards: 4, replicas: 1 });
    expect(scenario.faults.weights.size).toBe(0);
    expect(scenario.checkers).toContain("planned");
  });

  it("check planned operations only where nothing else happens", () => {
    const faulty = readScenario("faulty", { ...least, faults: { weights: { crash: 1 } } });
    expect(faulty.checkers).not.toContain("planned");
    expect(faulty.checkers).toContain("overlap");
  });

  it("say what is wrong with them", () => {
    const problem = (change: object): string => {
      try {
        readScenario("it", { ...least, ...change });
        return "nothing";
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(problem({ fleet: { nodes: 3 } })).toBe("it.fleet.shards must be a number from 0, and is missing");
    expect(problem({ fleet: { nodes: "three", shards: 1 } })).toContain('not "three"');
    expect(problem({ service: { prepareMs: [5, 1] } })).toContain(
      "it.service.prepareMs must be a number or [low, high]",
    );
    expect(problem({ faults: { weights: { crush: 1 } } })).toContain('has "crush", which nothing reads');
    expect(problem({ terms: { ttl: 1 } })).toBe('it.terms has "ttl", which is not one of the terms');
    expect(problem({ checkers: { off: ["everything"] } })).toContain('has "everything"');
    expect(problem({ colour: 1 })).toContain('it has "colour", which nothing reads');
  });
});

describe("knobs", () => {
  it("are drawn from the seed, within their ranges, and each on its own", () => {
    const scenario = readScenario("it", least);
    const drawn = drawKnobs(scenario, new Streams(5));
    expect(drawKnobs(scenario, new Streams(5))).toEqual(drawn);
    expect(drawn.drift).toBeLessThanOrEqual(0.02);
    const fixed = drawKnobs({ ...scenario, knobs: { ...scenario.knobs, drift: [0, 0] } }, new Streams(5));
    expect({ ...fixed, drift: drawn.drift }).toEqual(drawn);
  });
});
