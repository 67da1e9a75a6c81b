import {
  Keys,
  RouteTable,
  TransportError,
  terms as allTerms,
  type Clock,
  type ImageChange,
  type ParsedKey,
  type Random,
  type Store,
  type Terms,
  type Transport,
  type View,
} from "@keelson/kernel";
import type { FleetCopy } from "../copy/fleet-copy.ts";
import { entryValue } from "../mirror/entry-value.ts";
import { fleetMirror } from "../mirror/fleet-mirror.ts";
import type { FleetAccess, ShardDirectory, StreamRequest } from "../plugin/fleet-access.ts";
import { Hedge } from "../router/hedge.ts";
import type { RouterOptions } from "../router/options.ts";
import { RouterError } from "../router/router-error.ts";
import { Router, type RouterAnswer, type RouterRequest } from "../router/router.ts";
import { many, type ManyRequest } from "../router/many.ts";
import {
  scatter,
  type Gathered,
  type MissingPart,
  type Part,
  type ScatterOptions,
} from "../router/scatter.ts";
import { ShardDirectories } from "./shard-directories.ts";

export interface FleetClientOptions {
  readonly fleet: string;
  /** Where who holds what is learnt: the store itself, or a copy that something else keeps (a node's, over wire). */
  readonly store?: Store;
  readonly copy?: FleetCopy;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly terms?: Partial<Terms>;
  readonly router?: Partial<RouterOptions>;
  /** Told of every change of a key that is not about routes. */
  readonly onKey?: (key: ParsedKey, value: string | undefined) => void;
}

/**
 * A process that holds nothing and asks for shards: a gateway, a tool, a test. It follows a copy of the store for who holds what and routes from
 * memory; when the copy is cut off it goes on with what it knew.
 */
export class FleetClient implements FleetAccess {
  readonly keys: Keys;
  readonly mirror: FleetCopy;
  readonly table = new RouteTable();
  readonly router: Router;
  readonly hedge: Hedge;
  readonly #directories = new ShardDirectories();
  readonly #onKey: FleetClientOptions["onKey"];
  readonly #transport: Transport;

  constructor(options: FleetClientOptions) {
    const { clock, random, transport, store, copy } = options;
    if (!copy && !store) throw new TypeError("a fleet client needs a store, or a copy of one");
    this.keys = new Keys(options.fleet);
    this.mirror =
      copy ?? fleetMirror(options.fleet, { store: store!, clock, random }, allTerms(options.terms));
    this.#onKey = options.onKey;
    this.#transport = transport;
    this.router = new Router({
      table: this.table,
      transport,
      clock,
      random,
      ...(options.router ? { options: options.router } : {}),
    });
    this.hedge = new Hedge({ router: this.router, table: this.table, clock });
    this.mirror.subscribe({
      changed: (changes) => this.#changed(changes),
      listed: () => undefined,
    });
  }

  start(): void {
    this.mirror.start();
  }

  stop(): void {
    this.mirror.stop();
  }

  call(request: RouterRequest): Promise<RouterAnswer> {
    return this.router.call(request);
  }

  scatter<T>(
    requests: readonly Omit<RouterRequest, "timeoutMs">[],
    merge: (parts: readonly Part[]) => T,
    options: ScatterOptions,
  ): Promise<Gathered<T>> {
    return scatter(this.router, requests, merge, options);
  }

  many(request: ManyRequest): AsyncIterable<Part | MissingPart> {
    return many({ router: this.router, transport: this.#transport }, request);
  }

  async *stream(request: StreamRequest): AsyncIterable<unknown> {
    const { openTimeoutMs, signal, ...rest } = request;
    const opened = await this.router.stream({ ...rest, timeoutMs: openTimeoutMs }, signal);
    try {
      yield* opened.items;
    } catch (error) {
      if (signal?.aborted === true) return;
      throw streamFailure(request, error);
    }
  }

  shards(service: string): ShardDirectory {
    return this.#directories.of(service);
  }

  #changed(changes: readonly ImageChange[]): void {
    for (const { key, entry } of changes) {
      const parsed = this.keys.parse(key);
      if (!parsed) continue;
      if (!ROUTED.has(parsed.kind)) this.#onKey?.(parsed, entry?.value);
      else if (!entry) this.table.remove(parsed);
      else {
        const value = entryValue(entry);
        this.table.put(parsed, value, entry.revision);
        if (parsed.kind === "view") this.#directories.put(parsed.rest, value as View);
      }
    }
  }
}

/** The kinds of key that routes are made of. */
const ROUTED: ReadonlySet<string> = new Set(["tenure", "primary", "contender", "member", "view"]);

/** What ended a stream that had begun, as the router would have said it of a call. */
function streamFailure(request: StreamRequest, error: unknown): unknown {
  if (error instanceof TransportError)
    return new RouterError(
      request,
      { code: error.code, text: `the stream was cut off (${error.message}): ask again`, unknown: false },
      1,
      { cause: error },
    );
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    const said = WIRE_ENDINGS[error.code];
    const code = said ?? error.code;
    const text = said === undefined ? error.message : `the stream was ended (${error.message}): ask again`;
    return new RouterError(request, { code, text, unknown: false }, 1, { cause: error });
  }
  return error;
}

/** How wire itself ends a stream, as callers know it: its node closes, or its reader was too slow for what came. */
const WIRE_ENDINGS: Readonly<Record<string, string>> = { GOING_AWAY: "MOVED", SLOW_CONSUMER: "CUT" };
