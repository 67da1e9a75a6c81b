/**
 * Serves a store of this process to others: of one machine usually, because the store's clock and disk are this machine's. It adds nothing to the
 * contract and takes nothing away; a client that is slow or hostile costs its own connection.
 */
import { StoreError, type Clock, type RangePage, type Store } from "@keelson/kernel";
import { WireServer, type Incoming, type WireLimits, type WireServerOptions } from "@keelson/wire";
import {
  METHODS,
  failureOf,
  readCommit,
  readRange,
  readSession,
  readSessions,
  readTtl,
  readWatch,
} from "./protocol.ts";
import { serveWatch } from "./watch-feed.ts";

/** `createServer` and `refuses` are where TLS goes. */
export interface StoreServerOptions extends Pick<WireServerOptions, "createServer" | "refuses"> {
  /** Stays open when the server closes. */
  readonly store: Store;
  readonly clock: Clock;
  /** When given, clients must say the same. */
  readonly token?: string;
  readonly limits?: Partial<WireLimits>;
  /** For logs: why each connection ended. */
  readonly onConnectionEnd?: (peer: string, reason: Error) => void;
}

/** A page of large values ends early and says that more follow: a quarter of the longest frame. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

export class StoreServer {
  readonly #store: Store;
  readonly #server: WireServer;

  constructor({ store, ...options }: StoreServerOptions) {
    this.#store = store;
    this.#server = new WireServer({ ...options, name: "keelson-store" });
    this.#serve(METHODS.range, async (call) => {
      const { prefix, ...page } = readRange(call.body);
      return bounded(await this.#store.range(prefix, { ...page, timeoutMs: call.timeoutMs }));
    });
    this.#serve(METHODS.commit, ({ body, timeoutMs }) => {
      const { incarnation, ...commit } = readCommit(body);
      return this.#store.commit(commit, { incarnation, timeoutMs });
    });
    this.#serve(METHODS.openSession, ({ body, timeoutMs }) =>
      this.#store.openSession(readTtl(body), { timeoutMs }),
    );
    this.#serve(METHODS.renew, ({ body, timeoutMs }) => this.#store.renew(readSessions(body), { timeoutMs }));
    this.#serve(METHODS.revoke, ({ body, timeoutMs }) =>
      this.#store.revoke(readSession(body), { timeoutMs }),
    );
    this.#server.stream(METHODS.watch, (stream) => serveWatch(this.#store, readWatch(stream.body), stream));
  }

  /** Port 0 takes a free one. Rejects with STORE_UNAVAILABLE when the address cannot be had. */
  async listen(where: { readonly host: string; readonly port: number }): Promise<void> {
    try {
      await this.#server.listen(where);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new StoreError("STORE_UNAVAILABLE", `cannot listen on ${where.host}:${where.port}: ${why}`, {
        cause,
      });
    }
  }

  /** `host:port` that it listens on. */
  get address(): string {
    return this.#server.address;
  }

  /** Lets calls finish, at most this long, and ends watches. */
  close(options: { readonly graceMs: number }): Promise<void> {
    return this.#server.close(options);
  }

  #serve(name: string, handler: (call: Incoming) => Promise<unknown>): void {
    this.#server.method(name, async (call) => {
      try {
        return await handler(call);
      } catch (error) {
        throw failureOf(error);
      }
    });
  }
}

/** Always at least one entry, so that every page gets further. */
function bounded(page: RangePage): RangePage {
  let bytes = 0;
  for (const [at, { key, value }] of page.entries.entries()) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    if (bytes > PAGE_BYTES_MAX && at > 0) return { ...page, entries: page.entries.slice(0, at), more: true };
  }
  return page;
}
