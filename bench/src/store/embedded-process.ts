/** A program: an embedded store that serves other processes. It keeps what it was told through SIGKILL, and starts again on the same port. */
import { SystemClock, systemRandom } from "@keelson/runtime";
import { EmbeddedStore, StoreServer } from "@keelson/stores/embedded";
import { program } from "../process/main.ts";

export interface EmbeddedProcessOptions {
  readonly folder: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface EmbeddedProcessSaid {
  readonly kind: "serving";
  readonly address: string;
}

const { options, say } = program<EmbeddedProcessOptions, EmbeddedProcessSaid>();
const clock = new SystemClock();
const store = await EmbeddedStore.open({ folder: options.folder, clock, random: systemRandom });
const server = new StoreServer({ store, clock });
await server.listen({ host: "127.0.0.1", port: options.port });
say({ kind: "serving", address: server.address });
