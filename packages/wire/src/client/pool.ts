import { TransportError, type Clock, type Timer } from "@keelson/kernel";
import { WireClient, type CallOptions, type StreamOptions, type WireClientOptions } from "./client.ts";
import type { StreamHandle, StreamSink } from "./incoming-stream.ts";

export interface WirePoolOptions extends WireClientOptions {
  /** Addresses that are connected to at once. When more are asked for, the one idle longest goes. */
  readonly clientsMax?: number;
  /** A client that was not used for this long is closed. */
  readonly idleMs?: number;
}

interface Entry {
  readonly client: WireClient;
  usedAt: number;
}

const CLIENTS_MAX = 2_048;
const IDLE_MS = 60_000;

/** One client per address, for callers that speak to a whole fleet. Bounded; idle clients are closed. */
export class WirePool {
  readonly #options: WirePoolOptions;
  readonly #clientsMax: number;
  readonly #idleMs: number;
  readonly #entries = new Map<string, Entry>();
  #sweeper: Timer | undefined;
  #closed = false;

  constructor(options: WirePoolOptions) {
    this.#options = options;
    this.#clientsMax = options.clientsMax ?? CLIENTS_MAX;
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  get size(): number {
    return this.#entries.size;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** As WireClient.call. An address that cannot be read, and a full pool, are UNREACHABLE: nothing was sent. */
  async call(address: string, method: string, body: unknown, options: CallOptions): Promise<unknown> {
    return this.client(address).call(method, body, options);
  }

  /** As WireClient.stream; throws where `call` would reject. */
  stream(
    address: string,
    method: string,
    body: unknown,
    sink: StreamSink,
    options?: StreamOptions,
  ): StreamHandle {
    return this.client(address).stream(method, body, sink, options);
  }

  /** To be used at once and not kept: an idle client is closed. */
  client(address: string): WireClient {
    const now = this.#options.clock.now();
    const known = this.#entries.get(address);
    if (known !== undefined) {
      known.usedAt = now;
      return known.client;
    }
    if (this.#closed) throw new TransportError("UNREACHABLE", "the pool is closed");
    if (this.#entries.size >= this.#clientsMax) this.#makeRoom();
    const client = this.#newClient(address);
    this.#entries.set(address, { client, usedAt: now });
    this.#sweeper ??= this.#sweepLater();
    return client;
  }

  close(): void {
    this.#closed = true;
    this.#sweeper?.cancel();
    for (const { client } of this.#entries.values()) client.close();
    this.#entries.clear();
  }

  #newClient(address: string): WireClient {
    try {
      return new WireClient(address, this.#options);
    } catch (error) {
      // Addresses come from other nodes' hints, so a bad one is that node's mistake and not a bug here.
      throw new TransportError("UNREACHABLE", (error as Error).message, { cause: error });
    }
  }

  #makeRoom(): void {
    let oldest: string | undefined;
    let usedAt = Infinity;
    for (const [address, entry] of this.#entries) {
      if (entry.usedAt >= usedAt || entry.client.size > 0) continue;
      oldest = address;
      usedAt = entry.usedAt;
    }
    if (oldest === undefined) {
      throw new TransportError("UNREACHABLE", `all ${this.#clientsMax} connections of the pool are in use`);
    }
    this.#drop(oldest);
  }

  #drop(address: string): void {
    this.#entries.get(address)?.client.close();
    this.#entries.delete(address);
  }

  #sweepLater(): Timer {
    return this.#options.clock.after(this.#idleMs / 2, () => {
      const before = this.#options.clock.now() - this.#idleMs;
      for (const [address, entry] of this.#entries) {
        if (entry.usedAt <= before && entry.client.size === 0) this.#drop(address);
      }
      this.#sweeper = this.#entries.size > 0 ? this.#sweepLater() : undefined;
    });
  }
}
