import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"], externalConditions: ["source"] } },
  test: {
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    testTimeout: 20_000,
    // A hook may start a server, or remove a whole checkout, on a busy machine.
    hookTimeout: 60_000,
    pool: "threads",
    // Most tests wait for servers and timers: one worker, the default on two cores, would leave half the machine idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ["default"],
  },
});
