/** A gateway in front of the echo node, with tokens, as it would stand in front of a real one. */
import { startGateway, tokensFromFile } from "@keelson/gateway";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { pino } from "pino";
import { program } from "../process/main.ts";
import { echoPlugin } from "./echo-plugin.ts";

export interface GatewayProcessOptions {
  readonly node: string;
  readonly tokenFile: string;
}

export type GatewaySaid = { readonly kind: "serving"; readonly url: string };

const READY_WITHIN_MS = 60_000;
const { options, say } = program<GatewayProcessOptions, GatewaySaid>();
const clock = new SystemClock();
const gateway = await startGateway({
  fleet: "bench",
  plugins: [echoPlugin],
  listen: { host: "127.0.0.1", port: 0 },
  nodes: [options.node],
  tokens: tokensFromFile(options.tokenFile, clock),
  clock,
  random: systemRandom,
  log: pino({ level: "silent" }),
});
await gateway.ready(READY_WITHIN_MS);
say({ kind: "serving", url: gateway.url });
