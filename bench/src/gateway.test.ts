import { expect, test } from "vitest";
import gateway from "./gateway.ts";

test("measures the gateway beside nginx, and no request fails", async () => {
  const args = [
    "--requests",
    "300",
    "--rounds",
    "1",
    "--connections",
    "4",
    "--rate",
    "100",
    "--seconds",
    "1",
  ];
  const { figures, peers } = await gateway.run({ args, progress: () => undefined });
  expect(figures["failed"]).toBe(0);
  for (const name of ["overheadCpuUs", "p99Ms"]) expect(figures[name]).toBeTypeOf("number");
  expect(figures["p99Ms"]).toBeGreaterThan(0);
  expect(peers["nginx"]?.["p99Ms"]).toBeGreaterThan(0);
}, 120_000);
