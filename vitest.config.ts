import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"], externalConditions: ["source"] } },
  test: {
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    testTimeout: 20_000,
    // Hundreds of tests run real servers and processes against real clocks. One that fails is run once more, so that a stall of a shared machine
    // does not cost a landing; a broken promise fails twice, and the report says which were retried.
    retry: process.env["CI"] === undefined ? 0 : 1,
    pool: "threads",
    // Most tests wait for servers and timers: one worker, the default on two cores, would leave half the machine idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ["default"],
  },
});
