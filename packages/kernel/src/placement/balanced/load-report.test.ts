import { describe, expect, test } from "vitest";
import { LoadBook } from "./load-book.ts";
import { makeLoadReport, readLoadReport, reportBytesMax, tellsMore } from "./load-report.ts";

describe("a report of loads", () => {
  test("lists what shards say, with three digits, and what makes no sense as not measured", () => {
    const report = makeLoadReport(
      [
        ["1/0", { load: 1.23456, sizeBytes: 1_000_001 }],
        ["2/0", { load: Number.NaN }],
        ["3/0", {}],
      ],
      500,
    );
    expect(report).toEqual({
      v: 1,
      budgetBytes: 500,
      heaviest: { "1/0": [1.23, 1_000_000], "2/0": [null, null], "3/0": [null, null] },
      rest: { count: 0, each: [null, null] },
    });
    expect(readLoadReport(JSON.stringify(report))).toEqual(report);
    expect(readLoadReport('{"v":2}')).toBeUndefined();
  });

  test("is bounded: the heaviest are listed, the others counted with their mean", () => {
    const stats = Array.from(
      { length: 5_000 },
      (_, i) => [`repository-${i}/0`, { load: i < 10 ? 1_000 : 2 }] as const,
    );
    const report = makeLoadReport(stats, undefined);
    expect(JSON.stringify(report).length).toBeLessThanOrEqual(reportBytesMax);
    const listed = Object.keys(report.heaviest);
    expect(listed.slice(0, 10).sort()).toEqual(
      stats
        .slice(0, 10)
        .map(([name]) => name)
        .sort(),
    );
    expect(report.rest).toEqual({ count: 5_000 - listed.length, each: [2, null] });
  });

  test("is written again only when it says something new", () => {
    const one = makeLoadReport([["1/0", { load: 100 }]], undefined);
    const again = (load: number, name = "1/0") => makeLoadReport([[name, { load }]], undefined);
    expect(tellsMore(undefined, one, 0.1)).toBe(true);
    expect(tellsMore(one, again(105), 0.1)).toBe(false);
    expect(tellsMore(one, again(120), 0.1)).toBe(true);
    expect(tellsMore(one, again(100, "2/0"), 0.1)).toBe(true);
    expect(tellsMore(one, makeLoadReport([["1/0", { load: 100 }]], 7), 0.1)).toBe(true);
  });
});

describe("a book of loads", () => {
  const options = { halfLifeMs: 1_000, hysteresisShare: 0.1 };
  const report = (load: number) => makeLoadReport([["1/0", { load }]], undefined);

  test("takes the first report as it is, and follows later ones slowly, also when nobody repeats them", () => {
    const book = new LoadBook(options);
    book.take("a", 1, report(100), [], 0);
    expect(book.of(["1/0"]).loads[0]).toBe(100);
    book.take("a", 2, report(200), [], 60_000);
    book.advance(60_000);
    expect(book.of(["1/0"]).loads[0]).toBe(100);
    book.advance(61_000);
    expect(book.of(["1/0"]).loads[0]).toBeCloseTo(150);
    book.advance(90_000);
    expect(book.of(["1/0"]).loads[0]).toBeGreaterThan(180);
  });

  test("its version rises only when plans would be made with other numbers", () => {
    const book = new LoadBook(options);
    book.take("a", 1, report(100), [], 0);
    const { version } = book;
    book.take("a", 2, report(104), [], 10_000);
    book.advance(60_000);
    expect(book.version).toBe(version);
    expect([book.knows("a", 2), book.knows("a", 3)]).toEqual([true, false]);
  });

  test("gives what a report does not list the mean of its rest, and forgets what is no more", () => {
    const book = new LoadBook(options);
    const rest = { v: 1, heaviest: {}, rest: { count: 2, each: [7, null] } } as const;
    book.take("a", 1, rest, ["1/0", "2/0"], 0);
    expect([...book.of(["1/0", "2/0", "3/0"]).loads]).toEqual([7, 7, NaN]);
    book.keepOnly(["2/0"], ["a"]);
    expect([...book.of(["1/0", "2/0"]).loads]).toEqual([NaN, 7]);
  });
});
