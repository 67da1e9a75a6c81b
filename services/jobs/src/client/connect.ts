/** The client of a program outside the fleet: it is given the address of a node or two, learns the others from them, and talks to nodes directly. */
import { ConnectedClient, SystemClock, systemRandom, type ConnectedClientOptions } from "@keelson/runtime";
import { JobsError } from "./errors.ts";
import { JobsClient } from "./jobs-client.ts";
import { pause } from "./shard-calls.ts";

export interface ConnectOptions {
  /** `main` when left out. */
  readonly fleet?: string;
  /** `host:port` of nodes to begin with. */
  readonly nodes: readonly string[];
  /** What nodes want to hear before they talk, if they do. */
  readonly token?: string;
  /** How nodes are connected to, when not in plain TCP: `new WireTls({ … }).client.connect` where they have TLS. */
  readonly connect?: ConnectedClientOptions["connect"];
  readonly tenant?: string;
  /** For each call; 10 s when left out. */
  readonly timeoutMs?: number;
  /** How long to wait for the fleet at first; 10 s when left out. */
  readonly connectTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const LOOK_MS = 20;

/** Resolves once the fleet's shards are known. */
export async function connectJobs(options: ConnectOptions): Promise<JobsClient> {
  const {
    fleet = "main",
    nodes,
    token,
    connect,
    tenant,
    timeoutMs,
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
  } = options;
  const clock = new SystemClock();
  const connected = new ConnectedClient({
    fleet,
    clock,
    random: systemRandom,
    name: "jobs client",
    nodes,
    wireToken: token,
    connect,
  });
  connected.start();
  const client = new JobsClient({
    access: connected.fleet,
    ...(tenant === undefined ? {} : { tenant }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    close: () => {
      connected.stop();
      return Promise.resolve();
    },
  });
  for (const until = performance.now() + connectTimeoutMs; client.calls.map.ranges.length === 0;) {
    if (performance.now() > until) {
      connected.stop();
      throw new JobsError(
        "UNREACHABLE",
        `no node of fleet ${fleet} with a job queue answered at ${nodes.join(", ")} within ${connectTimeoutMs} ms`,
      );
    }
    // oxlint-disable-next-line no-await-in-loop -- until the fleet's copy has come.
    await pause(LOOK_MS);
  }
  return client;
}
