import { describe, expect, it } from "vitest";
import { readArguments, usage } from "./arguments.ts";

const scenarios = ["default", "losses-hunt", "planned", "replicas-hunt", "small-hunt"];
const read = (text: string) => readArguments(text === "" ? [] : text.split(" "), scenarios);
const mistake = (text: string): string => {
  const request = read(text);
  return request.kind === "mistake" ? request.message : `no mistake but ${request.kind}`;
};

describe("the command line", () => {
  it("means an hour of the default scenario when it is empty", () => {
    expect(read("")).toMatchObject({ kind: "run", options: { hours: 1, scenario: "default", trace: false } });
  });

  it("takes values after a space or an equals sign", () => {
    const request = read("--hours 24 --seed=7 --scenario planned --trace --nodes 9 --requests 50 --faults 0");
    expect(request).toMatchObject({
      kind: "run",
      options: { hours: 24, seed: 7, scenario: "planned", trace: true, nodes: 9, requests: 50, faults: 0 },
    });
  });

  it("goes hunting when a rule is broken, unless told where to", () => {
    expect(read("--break re-stamp")).toMatchObject({
      options: { breaks: "re-stamp", scenario: "small-hunt" },
    });
    expect(read("--break primary-guard")).toMatchObject({ options: { scenario: "replicas-hunt" } });
    expect(read("--break lower-ranks")).toMatchObject({ options: { scenario: "losses-hunt" } });
    expect(read("--break guard --scenario default")).toMatchObject({ options: { scenario: "default" } });
  });

  it("lists rules and scenarios when they are asked for without a name", () => {
    expect(read("--break").kind).toBe("list-rules");
    expect(read("--break --hours 4").kind).toBe("list-rules");
    expect(read("--scenario").kind).toBe("list-scenarios");
    expect(read("--help").kind).toBe("help");
  });

  it("names what is nearest to a word it does not know", () => {
    expect(mistake("--huors 3")).toContain('unknown flag "--huors": did you mean "--hours"?');
    expect(mistake("--break self-fence")).toContain(
      'unknown rule "self-fence": did you mean "self-fencing"?',
    );
    expect(mistake("--scenario smal-hunt")).toContain('did you mean "small-hunt"?');
    expect(mistake("--scenario xyzzy")).toContain('unknown scenario "xyzzy" (known: default');
  });

  it("says what is wrong with a value", () => {
    expect(mistake("--hours soon")).toBe('--hours needs a number, not "soon"');
    expect(mistake("--hours 0")).toBe("--hours must be more than 0");
    expect(mistake("--seed 1.5")).toBe('--seed needs a whole number, not "1.5"');
    expect(mistake("--nodes 0")).toBe("--nodes must be at least 1");
    expect(mistake("--trace=yes")).toBe("--trace takes no value");
    expect(mistake("24")).toBe('"24" is not a flag: flags begin with --');
  });

  it("has one line of help for every flag", () => {
    expect(usage()).toContain("--stop-after <n>");
  });
});
