import { replicaKey, shardKey, type Epoch, type Random, type ReplicaKey } from "@keelson/kernel";
import { below, chance, exponential } from "./chance/draw.ts";
import type { Streams } from "./chance/streams.ts";
import type { Emit } from "./events.ts";
import type { SimProcess } from "./process.ts";
import type { Scenario } from "./scenario/scenario.ts";

/** What a client's router gives for a request it got answered. */
interface RoutedAnswer {
  readonly epoch: Epoch;
  readonly body: unknown;
  readonly replica: number;
}

/** How a client reaches shards. The runtime's Router is one. Rejects when the request failed for good. */
export interface ClientRouter {
  call(
    shard: string,
    mode: "read" | "write",
    /** This replica and no other; undefined leaves it to the router. */
    replica: number | undefined,
    timeoutMs: number,
  ): Promise<RoutedAnswer>;
}

export interface WorkloadCounts {
  requests: number;
  ok: number;
  failed: number;
  /** Failures by what the client was told, most telling part only. */
  readonly reasons: Map<string, number>;
}

export interface WorkloadTarget {
  readonly name: string;
  readonly shards: number;
  readonly replicas: number;
}

/** A shard as clients know it. Made once: a key that is built anew for each request costs more than all else that is done with it. */
interface TargetShard {
  readonly id: string;
  readonly shard: string;
  readonly replicas: readonly ReplicaKey[];
  /** The highest value that any client was told is written. */
  acknowledged: number;
}

function targetShard({ name, replicas }: WorkloadTarget, id: string): TargetShard {
  return {
    id,
    shard: shardKey(name, id),
    replicas: Array.from({ length: replicas }, (_, i) => replicaKey(name, id, i)),
    acknowledged: 0,
  };
}

/** What the clients of a service do all day: reads and writes over all shards, at a rate that does not wait for answers. */
export class Workload {
  readonly counts: WorkloadCounts = { requests: 0, ok: 0, failed: 0, reasons: new Map() };
  readonly #terms: Scenario["workload"];
  readonly #service: WorkloadTarget;
  readonly #emit: Emit;
  readonly #shards: readonly TargetShard[];

  constructor(terms: Scenario["workload"], service: WorkloadTarget, emit: Emit) {
    this.#terms = terms;
    this.#service = service;
    this.#emit = emit;
    this.#shards = Array.from({ length: service.shards }, (_, i) => targetShard(service, String(i)));
  }

  /** Sets a client going in its process. */
  start(process: SimProcess, router: ClientRouter, streams: Streams): void {
    const when = streams.stream("when");
    const what = streams.stream("what");
    const meanMs = (1_000 * this.#terms.clients) / this.#terms.requestsPerSecond;
    const next = (): void => {
      process.clock.after(exponential(when, meanMs), () => {
        this.#request(process, router, what);
        next();
      });
    };
    next();
  }

  #request(process: SimProcess, router: ClientRouter, random: Random): void {
    const client = process.name;
    const { replicas } = this.#service;
    const target = this.#shards[below(random, this.#shards.length)] as TargetShard;
    const mode = chance(random, this.#terms.writes) ? "write" : "read";
    // Half of the reads ask for one replica, so that those which are not primary have work too.
    const which = below(random, 2 * replicas);
    const replica = mode === "read" && replicas > 1 && which < replicas ? which : undefined;
    const sentAtMs = process.scheduler.now;
    const { id, shard, acknowledged: floor } = target;
    this.counts.requests++;
    router.call(id, mode, replica, this.#terms.timeoutMs).then(
      (answer) => {
        const { epoch, body } = answer;
        this.counts.ok++;
        const value = Number(body);
        if (mode === "write" && value > target.acknowledged) target.acknowledged = value;
        this.#emit({
          kind: "answered",
          client,
          shard,
          replica: target.replicas[answer.replica] as ReplicaKey,
          mode,
          epoch,
          value,
          floor,
          sentAtMs,
        });
      },
      (error: unknown) => {
        this.counts.failed++;
        const reason = error instanceof Error ? error.message : String(error);
        const code = error instanceof Error && "code" in error ? String(error.code) : "OTHER";
        this.counts.reasons.set(code, (this.counts.reasons.get(code) ?? 0) + 1);
        this.#emit({ kind: "request-failed", client, shard, mode, reason: `${code}: ${reason}` });
      },
    );
  }
}
