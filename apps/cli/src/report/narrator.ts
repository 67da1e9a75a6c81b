/**
 * Tells in lines what nodes decide. Decisions come in bursts, one per shard; those of one moment and kind become one line. What is of
 * interest only to the curious is told only when `everything` is asked for.
 */
import { redact } from "@keelson/runtime/redact";
import { parseReplicaKey, type Decision, type DecisionKind } from "@keelson/kernel";

export interface NarratorOptions {
  readonly write: (line: string) => void;
  /** Every decision, one line each, with its reason. */
  readonly everything?: boolean;
}

/** Long enough to gather the shards of one move, short enough to look immediate. */
const GATHER_MS = 150;
const SHARDS_SHOWN_MAX = 12;

interface Burst {
  readonly node: string;
  readonly kind: DecisionKind;
  readonly service: string;
  readonly reason: string;
  readonly shards: Set<string>;
}

export class Narrator {
  readonly #options: NarratorOptions;
  #bursts = new Map<string, Burst>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NarratorOptions) {
    // Reasons quote what services and their libraries say.
    this.#options = { ...options, write: (line) => options.write(redact(line)) };
  }

  decided(decision: Decision): void {
    const { node, kind, replica, reason } = decision;
    if (this.#options.everything === true) {
      this.#options.write(`${node} ${kind} ${replica ?? ""} ${reason}`.replaceAll(/ +/g, " "));
      return;
    }
    const { service, shard } = replica === undefined ? { service: "", shard: "" } : parseReplicaKey(replica);
    const key = JSON.stringify([node, kind, service, reason]);
    let burst = this.#bursts.get(key);
    if (!burst) this.#bursts.set(key, (burst = { node, kind, service, reason, shards: new Set() }));
    if (shard !== "") burst.shards.add(shard);
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** A line of one's own, after those that wait. */
  say(line: string): void {
    this.flush();
    this.#options.write(line);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const bursts = this.#bursts;
    this.#bursts = new Map();
    for (const burst of bursts.values()) {
      const line = describe(burst);
      if (line !== undefined) this.#options.write(line);
    }
  }
}

/** Undefined for what only the curious want to know. */
function describe({ kind, service, reason, shards }: Omit<Burst, "node">): string | undefined {
  const what = shards.size === 0 ? service : `${service} ${listShards(shards)}`;
  switch (kind) {
    case "live":
      return `holds ${what}`;
    case "handed-over":
      return `handed over ${reason}: ${what}`;
    case "released":
      return `released ${what}: ${reason}`;
    case "lost":
      return `lost ${what}: ${reason}`;
    case "failed":
      return `failed to open ${what}: ${reason}; it is tried again, the rest goes on`;
    case "quarantined":
      return `quarantined ${what}: ${reason}`;
    case "unsure":
      return `unsure about ${what}: ${reason}`;
    case "refused":
      return `refused${service === "" ? "" : ` ${what}`}: ${reason}`;
    case "view":
      return `view ${reason}`;
    case "era":
    case "session":
      return reason;
    case "manager":
      return `manager: ${reason}`;
    // Steps on the way, and what the command says itself.
    default:
      return undefined;
  }
}

function listShards(shards: ReadonlySet<string>): string {
  const sorted = [...shards].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const shown = sorted.slice(0, SHARDS_SHOWN_MAX).join(" ");
  return sorted.length > SHARDS_SHOWN_MAX ? `${shown} … (${sorted.length} shards)` : shown;
}
