import { describe, expect, test } from "vitest";
import { RetryBudget } from "./retry-budget.ts";

const terms = { ratio: 0.1, floorPerSecond: 2, savedMax: 5 };

function drain(budget: RetryBudget, now: number): number {
  let taken = 0;
  while (budget.withdraw(now)) taken += 1;
  return taken;
}

describe("RetryBudget", () => {
  test("starts with what may be saved up, and no more", () => {
    expect(drain(new RetryBudget(terms, 0), 0)).toBe(5);
  });

  test("allows one retry for every ten requests", () => {
    const budget = new RetryBudget(terms, 0);
    drain(budget, 0);
    for (let i = 0; i < 31; i++) budget.deposit();
    expect(drain(budget, 0)).toBe(3);
  });

  test("allows a few per second when there are no requests at all", () => {
    const budget = new RetryBudget(terms, 1_000);
    drain(budget, 1_000);
    expect(drain(budget, 1_400)).toBe(0);
    expect(drain(budget, 2_000)).toBe(2);
  });

  test("saves no more than its limit, by requests or by time", () => {
    const budget = new RetryBudget(terms, 0);
    for (let i = 0; i < 1_000; i++) budget.deposit();
    expect(drain(budget, 1_000_000)).toBe(5);
  });
});
