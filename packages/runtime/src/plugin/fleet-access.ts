/** How code outside a shard asks shards: from a gateway's route, a gRPC method, or a node's service. Found from memory; never asks the store. */
import type { ServiceParameters } from "@keelson/kernel";
import type { RouterAnswer, RouterRequest } from "../router/router.ts";
import type { ManyRequest } from "../router/many.ts";
import type { Gathered, MissingPart, Part, ScatterOptions } from "../router/scatter.ts";

export interface FleetAccess {
  /** One shard. Rejects with RouterError. */
  call(request: RouterRequest): Promise<RouterAnswer>;
  /** Many shards; what is missing is listed, never hidden. */
  scatter<T>(
    requests: readonly Omit<RouterRequest, "timeoutMs">[],
    merge: (parts: readonly Part[]) => T,
    options: ScatterOptions,
  ): Promise<Gathered<T>>;
  /** The same read of many shards, in one exchange with each node that holds some of them; answers as they come. */
  many(request: ManyRequest): AsyncIterable<Part | MissingPart>;
  /** Items that a shard's `stream` gives, until it ends. Throws RouterError; a shard that moves ends it with `MOVED`: ask again. */
  stream(request: StreamRequest): AsyncIterable<unknown>;
  /** Which shards a service has, as its view says. */
  shards(service: string): ShardDirectory;
}

/** A stream has no time of its own: it lasts until one side ends it. `openTimeoutMs` is how long its first item or its acceptance may take. */
export interface StreamRequest extends Omit<RouterRequest, "timeoutMs" | "idempotent"> {
  readonly openTimeoutMs: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** A service's shards as the fleet agreed on them. Empty while no view is known. */
export interface ShardDirectory {
  readonly ids: readonly string[];
  readonly parameters: ServiceParameters | undefined;
  has(shard: string): boolean;
  /** The shard that a key belongs to by hash: stable while the number of shards is. Throws RouterError NO_HOLDER while no view is known. */
  byHash(key: string): string;
}
