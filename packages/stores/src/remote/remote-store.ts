/**
 * A store in another process, reached over TCP: the contract's calls, with what a network adds said in the contract's words. A call that was not sent is STORE_UNAVAILABLE;
 * a write whose answer was lost is STORE_UNKNOWN. Nothing is repeated here; a lost connection ends watches, and the next call opens a new one, with back-off.
 */
import {
  StoreError,
  TransportError,
  type CallOptions,
  type Clock,
  type Commit,
  type CommitOptions,
  type CommitOutcome,
  type Random,
  type RangeOptions,
  type RangePage,
  type Renewal,
  type Revision,
  type SessionOpened,
  type Store,
  type StoreReply,
  type Watch,
  type WatchSink,
} from "@keelson/kernel";
import { WireClient, WireFailure, type WireClientOptions, type WireLimits } from "@keelson/wire";
import { RenewalGroup } from "../core/renewal-group.ts";
import {
  METHODS,
  storeErrorOf,
  type CommitRequest,
  type RangeRequest,
  type WatchRequest,
} from "./protocol.ts";
import { RemoteWatch } from "./remote-watch.ts";

/** `connect` is where TLS goes. */
export interface RemoteStoreOptions extends Pick<WireClientOptions, "connect"> {
  /** `host:port` of a StoreServer. */
  readonly address: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Told to the server, for its logs. */
  readonly name?: string;
  readonly token?: string;
  readonly limits?: Partial<WireLimits>;
}

export class RemoteStore implements Store {
  readonly #options: RemoteStoreOptions;
  readonly #watches = new Set<RemoteWatch>();
  readonly #client: WireClient;
  readonly #renewals = new RenewalGroup((sessions, { timeoutMs }) =>
    this.#write(METHODS.renew, { sessions }, timeoutMs),
  );
  /** When an answer or a batch last came. */
  #heardAt = 0;
  /** When the present connection took the place of a silent one. */
  #leftAt = -Infinity;
  #closed = false;

  /** Throws a RangeError for an address that cannot be read; connects when first used. */
  constructor(options: RemoteStoreOptions) {
    this.#options = options;
    const { address, name = "store client", ...rest } = options;
    this.#client = new WireClient(address, { ...rest, name });
  }

  range(prefix: string, { limit, after, timeoutMs }: RangeOptions): Promise<RangePage> {
    return this.#read(METHODS.range, { prefix, limit, after } satisfies RangeRequest, timeoutMs);
  }

  commit({ guards, writes }: Commit, { incarnation, timeoutMs }: CommitOptions): Promise<CommitOutcome> {
    const body: CommitRequest = { guards, writes, incarnation };
    return this.#write(METHODS.commit, body, timeoutMs);
  }

  openSession(ttlMs: number, { timeoutMs }: CallOptions): Promise<SessionOpened> {
    return this.#write(METHODS.openSession, { ttlMs }, timeoutMs);
  }

  renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    return this.#renewals.renew(sessions, options);
  }

  revoke(session: string, { timeoutMs }: CallOptions): Promise<StoreReply> {
    return this.#write(METHODS.revoke, { session }, timeoutMs);
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    const watch = new RemoteWatch(sink, {
      heard: () => {
        this.#heardAt = this.#options.clock.now();
      },
      ended: () => void this.#watches.delete(watch),
    });
    this.#watches.add(watch);
    watch.follow(this.#client.stream(METHODS.watch, { prefix, after } satisfies WatchRequest, watch));
    return watch;
  }

  /** Ends watches and what is in flight. Sessions live on until they expire. */
  close(): Promise<void> {
    this.#closed = true;
    for (const watch of this.#watches) watch.lose(CLOSED);
    this.#client.close();
    return Promise.resolve();
  }

  #read<T>(method: string, body: unknown, timeoutMs: number): Promise<T> {
    return this.#call<T>(method, body, timeoutMs, "STORE_UNAVAILABLE");
  }

  #write<T>(method: string, body: unknown, timeoutMs: number): Promise<T> {
    return this.#call<T>(method, body, timeoutMs, "STORE_UNKNOWN");
  }

  async #call<T>(
    method: string,
    body: unknown,
    timeoutMs: number,
    whenLost: "STORE_UNAVAILABLE" | "STORE_UNKNOWN",
  ): Promise<T> {
    if (this.#closed) throw new StoreError("STORE_UNAVAILABLE", CLOSED);
    const sentAt = this.#options.clock.now();
    try {
      const answer = (await this.#client.call(method, body, { timeoutMs })) as T;
      this.#heardAt = this.#options.clock.now();
      return answer;
    } catch (error) {
      if (error instanceof TransportError) {
        if (error.code === "TIMEOUT") this.#leaveIfSilent(sentAt);
        const code = error.code === "UNREACHABLE" ? "STORE_UNAVAILABLE" : whenLost;
        throw new StoreError(code, error.message, { cause: error });
      }
      throw error instanceof WireFailure ? this.#answered(error, whenLost) : error;
    }
  }

  /** A connection that said nothing for a whole call is left, so that the next call does not wait for it too. What is under way there may still be answered. */
  #leaveIfSilent(since: number): void {
    if (this.#closed || this.#heardAt >= since || this.#leftAt >= since) return;
    this.#leftAt = this.#options.clock.now();
    const reason = `${this.#options.address} was silent`;
    this.#client.leave(reason);
    for (const watch of this.#watches) watch.lose(reason);
  }

  #answered(failure: WireFailure, whenLost: "STORE_UNAVAILABLE" | "STORE_UNKNOWN"): StoreError {
    this.#heardAt = this.#options.clock.now();
    const known = storeErrorOf(failure);
    if (known !== undefined) return known;
    const because = (code: StoreError["code"], message: string): StoreError =>
      new StoreError(code, message, { cause: failure });
    switch (failure.code) {
      case "BAD_REQUEST":
      case "TOO_LARGE":
      case "UNENCODABLE":
        return because("STORE_REJECTED", failure.message);
      case "NO_METHOD":
        return because(
          "STORE_UNAVAILABLE",
          `${this.#options.address} does not serve a store: name the address of one`,
        );
      case "OVERLOADED":
        return because("STORE_UNAVAILABLE", failure.message);
      default:
        return because(whenLost, `${failure.code}: ${failure.message}`);
    }
  }
}

const CLOSED = "this store client was closed";
