/** A program: a node and a gateway with tokens and short limits, to be abused by a test. Over IPC it says where it is and, when asked, how much memory it holds. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokensFromFile } from "@keelson/gateway";
import { SystemClock } from "@keelson/runtime";
import { GatewayFleet, until } from "./fleet.ts";

export type AbusedSaid =
  | { readonly kind: "serving"; readonly url: string }
  | { readonly kind: "figures"; readonly heapBytes: number };

/** Slow requests are given up on sooner than by default, so that the test takes seconds. */
const LIMITS = {
  headersTimeoutMs: 1_500,
  requestTimeoutMs: 3_000,
  timeoutMs: 2_000,
  // All abuse comes from one address: on a fast machine tokens that are not taken would be put off, and not refused.
  refusalsPerSecondMax: 10_000,
};

const [tokenFile = ""] = process.argv.slice(2);
process.chdir(mkdtempSync(join(tmpdir(), "keelson-abused-")));
const fleet = await GatewayFleet.start({
  nodes: 1,
  gateway: { tokens: tokensFromFile(tokenFile, new SystemClock()), limits: LIMITS },
});
await until("every shard is held", () =>
  Array.from({ length: 6 }, (_, i) => fleet.holder(`counter/${i}/0`)).every((name) => name !== undefined),
);
const say = (said: AbusedSaid): void => void process.send?.(said);
process.on("message", () => {
  // Twice: the first collection lets go what finalisers held.
  globalThis.gc?.();
  globalThis.gc?.();
  for (const line of fleet.logged.splice(0)) process.stdout.write(line);
  say({ kind: "figures", heapBytes: process.memoryUsage().heapUsed + process.memoryUsage().external });
});
process.on("disconnect", () => {
  void fleet.stop().finally(() => {
    process.exitCode = 0;
  });
});
say({ kind: "serving", url: fleet.gateway.url });
