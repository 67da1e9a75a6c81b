import { expect, test } from "vitest";
import type { Bench } from "./bench.ts";
import { benches } from "./catalogue.ts";
import { benchCommand } from "./command.ts";

const sample: Bench = {
  name: "sample",
  title: "a bench for this test",
  run({ args, progress }) {
    progress("half way");
    if (args[0] === "--odd")
      throw Object.assign(new Error("Unknown option '--odd'"), { code: "ERR_PARSE_ARGS_UNKNOWN_OPTION" });
    if (args[0] === "--crash") throw new Error("crash");
    if (args[0] === "--unsafe")
      return Promise.resolve({ figures: { overlaps: 2 }, peers: {}, broken: ["2 overlaps"] });
    const peers = { other: { lookupNs: 1234.5, extraMs: 2 } };
    return Promise.resolve({ figures: { lookupNs: 80.123, shards: 100_000 }, peers });
  },
};

async function run(
  ...argv: string[]
): Promise<{ code: number; out: string; progress: string; saved: unknown[] }> {
  let out = "";
  let progress = "";
  const saved: unknown[] = [];
  const code = await benchCommand([sample], argv, {
    out: (text) => void (out += text),
    progress: (text) => void (progress += `${text}\n`),
    save: (name, result) => Promise.resolve(`results/${saved.push(result) && name}.json`),
  });
  return { code, out, progress, saved };
}

test("lists the benches when none is named", async () => {
  const { code, out } = await run();
  expect([code, out]).toEqual([0, expect.stringContaining("  sample  a bench for this test\n")]);
});

test("refuses a name it does not know, with the list, and exits with 2", async () => {
  const { code, out, progress } = await run("simple");
  expect([code, out]).toEqual([2, ""]);
  expect(progress).toBe('bench: there is no bench "simple"; there are:\n  sample  a bench for this test\n');
});

test("prints a table, tells progress apart from it, and saves figures and peers", async () => {
  const { code, out, progress, saved } = await run("sample");
  expect(code).toBe(0);
  expect(out).toBe(
    [
      "a bench for this test",
      "",
      "          keelson  other",
      "lookupNs     80.1  1,235",
      "shards    100,000      -",
      "extraMs         -      2",
      "",
    ].join("\n"),
  );
  expect(progress).toBe("sample: half way\nsample: written to results/sample.json\n");
  expect(saved).toEqual([
    {
      name: "sample",
      figures: { lookupNs: 80.123, shards: 100_000 },
      peers: { other: { lookupNs: 1234.5, extraMs: 2 } },
    },
  ]);
});

test("calls an option that a bench does not have the user's mistake, and anything else a failure", async () => {
  const { code, progress, saved } = await run("sample", "--odd");
  expect([code, saved]).toEqual([2, []]);
  expect(progress).toContain("bench: sample: Unknown option '--odd'\n");
  await expect(run("sample", "--crash")).rejects.toThrow("crash");
});

test("a broken promise is told after the figures, and exits with 3", async () => {
  const { code, out, progress, saved } = await run("sample", "--unsafe");
  expect([code, saved]).toEqual([3, [{ name: "sample", figures: { overlaps: 2 }, peers: {} }]]);
  expect(out).toContain("overlaps        2");
  expect(progress).toContain("bench: sample: broken: 2 overlaps\n");
});

test("every bench of the catalogue has a name of its own and a title", () => {
  expect(new Set(benches.map((bench) => bench.name)).size).toBe(benches.length);
  expect(benches.every((bench) => bench.title.length > 0)).toBe(true);
});

test("the routing bench gives the figures that it is there for", async () => {
  const routing = benches.find((bench) => bench.name === "routing");
  const result = await routing?.run({ args: ["--shards", "10", "--rounds", "1"], progress: () => {} });
  expect(Object.keys(result?.figures ?? {})).toContain("lookupNs");
  await expect(routing?.run({ args: ["--shards", "none"], progress: () => {} })).rejects.toThrow(
    /--shards none/,
  );
});
