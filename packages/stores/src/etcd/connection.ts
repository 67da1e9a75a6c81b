/**
 * One connection to one member of etcd, ready for use: the client is known there, and so is which etcd it is. All that comes over it is from one process of one member,
 * whose state never goes back; and the first thing read over it was read with a quorum. So nothing on it is older than what an earlier connection showed.
 */
import type { Clock, Random, Revision, Timer } from "@keelson/kernel";
import { isTokenStale, memberRefused } from "./failure.ts";
import type { StreamSink } from "./grpc/call.ts";
import { GrpcConnection, type GrpcStream, type Metadata } from "./grpc/connection.ts";
import { GRPC, GrpcError } from "./grpc/status.ts";
import type { Target } from "./grpc/target.ts";
import { Incarnation, leaveIncarnation, readIncarnation } from "./incarnation.ts";
import { LeaseStream } from "./lease-stream.ts";
import type { Header } from "./messages/header.ts";
import { decodeToken, encodeAuthenticate } from "./messages/cluster.ts";
import {
  decodeTransactionResult,
  encodeTransaction,
  type Transaction,
  type TransactionResult,
} from "./messages/kv.ts";
import { PROBE_AFTER_MS, PROBE_WITHIN_MS } from "./options.ts";
import { measureClockOffset } from "./server-time.ts";
import { WatchStream } from "./watch-stream.ts";

export interface EtcdConnectionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly target: Target;
  readonly user: { readonly name: string; readonly password: string } | undefined;
  readonly namespace: string;
  readonly incarnationKey: string;
  /** Called once, when the connection has ended after it was ready. */
  closed(connection: EtcdConnection): void;
}

export class EtcdConnection {
  readonly leases: LeaseStream;
  readonly watches: WatchStream;
  readonly #options: EtcdConnectionOptions;
  readonly #rpc: GrpcConnection;
  #metadata: Metadata = { hasleader: "true" };
  #authenticating: Promise<void> | undefined;
  #incarnation: Incarnation | undefined;
  #clockOffsetMs = 0;
  #ready = false;
  #probeTimer: Timer | undefined;

  /** Rejects with a GrpcError that says `sent: false`: whatever the caller wanted to send was not. */
  static async open(options: EtcdConnectionOptions, timeoutMs: number): Promise<EtcdConnection> {
    const { target, clock } = options;
    const deadline = clock.now() + timeoutMs;
    const offset = measureClockOffset(target, clock);
    let connection: EtcdConnection | undefined;
    try {
      const rpc = await GrpcConnection.open(target, clock, timeoutMs, (reason) => {
        if (connection !== undefined) connection.#ended(reason);
      });
      connection = new EtcdConnection(options, rpc);
      if (options.user !== undefined) await connection.#authenticate(deadline - clock.now());
      await connection.learnIncarnation(deadline - clock.now());
      connection.#clockOffsetMs = await offset;
      if (rpc.isClosed) throw new Error("the connection ended while it began");
      connection.#ready = true;
      connection.#watchSilence(PROBE_AFTER_MS);
      return connection;
    } catch (error) {
      connection?.close("it could not be used");
      const message = error instanceof Error ? error.message : String(error);
      const code = error instanceof GrpcError ? error.code : GRPC.unavailable;
      throw new GrpcError(code, message, false, { cause: error });
    }
  }

  private constructor(options: EtcdConnectionOptions, rpc: GrpcConnection) {
    this.#options = options;
    this.#rpc = rpc;
    const { clock, namespace } = options;
    this.leases = new LeaseStream({
      clock,
      open: (sink) => this.#stream("/etcdserverpb.Lease/LeaseKeepAlive", sink),
      heard: () => rpc.heard,
      silent: (timeoutMs) => this.close(`nothing heard within ${timeoutMs} ms`),
    });
    this.watches = new WatchStream({
      clock,
      namespaceLength: namespace.length,
      incarnation: () => this.incarnation.name,
      open: (sink) => this.#stream("/etcdserverpb.Watch/Watch", sink),
      silent: (timeoutMs) => this.close(`a watch was not confirmed within ${timeoutMs} ms`),
    });
  }

  get incarnation(): Incarnation {
    if (this.#incarnation === undefined) throw new Error("the connection is not ready");
    return this.#incarnation;
  }

  /** The member's wall clock, as far as it can be told. */
  get serverTimeMs(): number {
    return this.#options.clock.wall() + this.#clockOffsetMs;
  }

  close(reason: string): void {
    this.#rpc.close(reason);
  }

  async transaction(transaction: Transaction, timeoutMs: number): Promise<TransactionResult> {
    const reply = await this.call("/etcdserverpb.KV/Txn", encodeTransaction(transaction), timeoutMs);
    const result = decodeTransactionResult(reply);
    this.seen(result.header.revision);
    return result;
  }

  /** One request, one reply. A token that has expired is replaced, and the call, which etcd did not look at, made again. */
  async call(path: string, message: Buffer, timeoutMs: number): Promise<Buffer> {
    const { clock, user } = this.#options;
    const deadline = clock.now() + timeoutMs;
    try {
      return await this.#rpc.unary(path, message, timeoutMs, this.#metadata);
    } catch (error) {
      if (error instanceof GrpcError && memberRefused(error)) this.close(error.message);
      if (user === undefined || !isTokenStale(error)) throw error;
      await this.#authenticate(deadline - clock.now());
      return this.#rpc.unary(path, message, deadline - clock.now(), this.#metadata);
    }
  }

  /** Every reply passes here, so that watches know what there is to be told. */
  seen(revision: Revision): void {
    this.watches.notice(revision);
  }

  /** Reads which etcd this is, with a quorum, and makes it somebody if it is nobody yet. */
  async learnIncarnation(timeoutMs: number): Promise<{ incarnation: Incarnation; revision: Revision }> {
    const { incarnationKey: key, random, clock } = this.#options;
    const deadline = clock.now() + timeoutMs;
    const read = { compares: [], success: [readIncarnation(key)], failure: [] };
    let { header, results } = await this.transaction(read, timeoutMs);
    let value = results[0]?.entries[0]?.value;
    if (value === undefined) {
      const leaving = leaveIncarnation(key, random);
      const left = await this.transaction(leaving.transaction, deadline - clock.now());
      ({ header, results } = left);
      value = left.succeeded ? leaving.value : results[0]?.entries[0]?.value;
    }
    if (value === undefined)
      throw new GrpcError(GRPC.unavailable, `${key} was deleted while it was read`, false);
    return { incarnation: this.identify(header, value), revision: header.revision };
  }

  /** A reply showed this value under the incarnation's key. */
  identify({ clusterId }: Header, value: string): Incarnation {
    if (this.#incarnation?.clusterId !== clusterId || this.#incarnation.value !== value)
      this.#incarnation = new Incarnation(this.#options.incarnationKey, clusterId, value);
    return this.#incarnation;
  }

  #stream(path: string, sink: StreamSink): GrpcStream {
    return this.#rpc.stream(path, this.#metadata, {
      message: (message) => sink.message(message),
      ended: (error) => {
        sink.ended(error);
        // With a new connection come a new token, and perhaps another member.
        if (error !== undefined && (isTokenStale(error) || memberRefused(error))) this.close(error.message);
      },
    });
  }

  /** Calls that find their token stale at the same time share one answer. */
  #authenticate(timeoutMs: number): Promise<void> {
    this.#authenticating ??= this.#askForToken(timeoutMs).finally(() => {
      this.#authenticating = undefined;
    });
    return this.#authenticating;
  }

  async #askForToken(timeoutMs: number): Promise<void> {
    const { user } = this.#options;
    if (user === undefined) return;
    const message = encodeAuthenticate(user.name, user.password);
    const reply = await this.#rpc.unary("/etcdserverpb.Auth/Authenticate", message, timeoutMs, {});
    this.#metadata = { ...this.#metadata, token: decodeToken(reply) };
  }

  /** Who only watches would not learn that nobody is there any more. So whoever watches asks, when nothing was heard for a while. */
  #watchSilence(afterMs: number): void {
    const { clock } = this.#options;
    this.#probeTimer = clock.after(afterMs, () => {
      const left = this.#rpc.heardAt + PROBE_AFTER_MS - clock.now();
      if (left > 0 || this.watches.size === 0) this.#watchSilence(left > 0 ? left : PROBE_AFTER_MS);
      else {
        const again = (): void => {
          if (!this.#rpc.isClosed) this.#watchSilence(PROBE_AFTER_MS);
        };
        // Without an answer the connection is closed by the deadline; any other failure is an answer.
        this.learnIncarnation(PROBE_WITHIN_MS).then(again, again);
      }
    });
  }

  #ended(reason: string): void {
    this.#probeTimer?.cancel();
    // First of all nobody gets this connection any more: who is told that a watch ended may begin another at once.
    if (this.#ready) this.#options.closed(this);
    this.watches.end(reason);
  }
}
