import { describe, expect, test } from "vitest";
import { Breakers } from "./breakers.ts";

const terms = { failuresMax: 3, openMs: 100, openMsMax: 250 };

function opened(at = 0): Breakers {
  const breakers = new Breakers(terms);
  for (let i = 0; i < 3; i++) breakers.failed("a", at);
  return breakers;
}

describe("Breakers", () => {
  test("open after so many failures in a row, not before", () => {
    const breakers = new Breakers(terms);
    breakers.failed("a", 0);
    breakers.failed("a", 0);
    expect(breakers.state("a", 0)).toBe("closed");
    breakers.succeeded("a");
    breakers.failed("a", 0);
    breakers.failed("a", 0);
    expect(breakers.passesAt("a", 5)).toBe(5);
    breakers.failed("a", 0);
    expect([breakers.state("a", 5), breakers.passesAt("a", 5)]).toEqual(["open", 100]);
    expect(breakers.state("b", 5)).toBe("closed");
  });

  test("let one probe pass when the time is over, and no second one meanwhile", () => {
    const breakers = opened();
    expect([breakers.state("a", 100), breakers.passesAt("a", 100)]).toEqual(["half-open", 100]);
    breakers.sent("a", 100);
    expect(breakers.passesAt("a", 101)).toBeGreaterThan(101);
  });

  test("close when the probe is answered", () => {
    const breakers = opened();
    breakers.sent("a", 100);
    breakers.succeeded("a");
    expect([breakers.state("a", 101), breakers.passesAt("a", 101)]).toEqual(["closed", 101]);
  });

  test("stay open twice as long when the probe fails, up to a limit", () => {
    const breakers = opened();
    breakers.sent("a", 100);
    breakers.failed("a", 110);
    expect(breakers.passesAt("a", 110)).toBe(310);
    breakers.sent("a", 310);
    breakers.failed("a", 320);
    expect(breakers.passesAt("a", 320)).toBe(570);
  });

  test("are not kept open longer by requests that left before", () => {
    const breakers = opened();
    breakers.failed("a", 90);
    expect(breakers.passesAt("a", 95)).toBe(100);
  });

  test("let another probe pass when one never reports back", () => {
    const breakers = opened();
    breakers.sent("a", 100);
    expect(breakers.passesAt("a", 300)).toBe(350);
  });

  test("forget the oldest of very many", () => {
    const breakers = opened();
    for (let i = 0; i < 5_000; i++) breakers.failed(`life-${i}`, 0);
    expect(breakers.state("a", 1)).toBe("closed");
  });
});
