/** `keelson store`: serves an embedded store to the processes of this machine. Its end is a store outage, and nothing worse. */
import { Command } from "commander";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { EmbeddedStore, StoreServer, type EmbeddedOrigin } from "@keelson/stores/embedded";
import { formatListen, isLoopback, parseListen } from "../config/listen.ts";
import { loadConfig } from "../config/load.ts";
import { flagsOf, withSettings } from "../config/options.ts";
import type { ConfigOf } from "../config/settings.ts";
import { openTls, openedWith } from "../config/tls.ts";
import { listenFailure } from "../failure.ts";
import { tellRefusals } from "../node/refusals.ts";
import { stopSignal } from "../stop-signal.ts";

/** How long calls that are being answered may take once it was told to stop. */
const CLOSE_GRACE_MS = 1_000;

const ORIGINS: Readonly<Record<EmbeddedOrigin, string>> = {
  new: "new",
  kept: "as it was left",
  "older data than before": "older than it was, so nodes begin a new era",
  "data without its mark": "without its mark, so nodes begin a new era",
};

export function storeCommand(): Command {
  const command = new Command("store").argument("[folder]", "the same as --data");
  return withSettings(command, "store").action(
    async (folder: string | undefined, options: Record<string, unknown>) => {
      const { file, flags } = flagsOf(options);
      const { config } = loadConfig("store", {
        file,
        environment: process.env,
        flags: { ...flags, ...(folder === undefined ? {} : { data: folder }) },
      });
      await serve(config);
    },
  );
}

async function serve(config: ConfigOf<"store">): Promise<void> {
  const { data: folder, "tls-ca": ca, "tls-cert": cert, "tls-key": key, "tls-name": name } = config;
  const listen = parseListen(config.listen);
  const clock = new SystemClock();
  const problem = (text: string): void => void process.stderr.write(`keelson: ${text}\n`);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const tls = openTls({ ca, cert, key, name, prefix: "tls" }, { clock, say, problem });
  const store = await openedWith(tls, EmbeddedStore.open({ folder, clock, random: systemRandom }));
  const onConnectionEnd = tellRefusals(clock, problem);
  const server = new StoreServer({ store, clock, ...tls?.server, onConnectionEnd });
  try {
    await server.listen(listen).catch((error: unknown) => {
      throw listenFailure(error, formatListen(listen), "--listen");
    });
    const url = `embedded://${server.address}`;
    process.stdout.write(`store ${folder} (${ORIGINS[store.origin]}) is served at ${url}\n`);
    process.stdout.write(`start a node with: keelson node --store ${url} --id a\n`);
    if (!isLoopback(listen.host) && !tls)
      process.stderr.write(
        `keelson: whoever reaches ${server.address} can change the store, it asks for no password: give it TLS with --tls-ca, or keep it on a trusted network\n`,
      );
    const signal = await stopSignal();
    process.stdout.write(`${signal}: closing\n`);
    await server.close({ graceMs: CLOSE_GRACE_MS });
  } finally {
    tls?.stop();
    await store.close();
  }
}
