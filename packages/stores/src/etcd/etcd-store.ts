/**
 * A store on etcd 3.4 or later. A session is a lease, a revision is etcd's own, a commit is one transaction. docs/design/etcd.md says what becomes what, and
 * what etcd cannot promise.
 */
import {
  STORE_LIMITS,
  type CallOptions,
  type Commit,
  type CommitOptions,
  type CommitOutcome,
  type Entry,
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
import { checkCommit, checkRange, checkSessions, checkTtl } from "../core/limits.ts";
import { RenewalGroup } from "../core/renewal-group.ts";
import { commitTo } from "./commit.ts";
import type { EtcdConnection } from "./connection.ts";
import { Connector } from "./connector.ts";
import { isLeaseNotFound, storeError } from "./failure.ts";
import { incarnationKey, readIncarnation } from "./incarnation.ts";
import { above, prefixRange } from "./key-range.ts";
import { decodeStatus, type MemberStatus } from "./messages/cluster.ts";
import type { KeyValue } from "./messages/kv.ts";
import { decodeLeaseReply, encodeGrant, encodeLease } from "./messages/lease.ts";
import { WATCH_CREATE_MS, type EtcdStoreOptions } from "./options.ts";
import { leaseOf, newSessionId } from "./session-id.ts";

export class EtcdStore implements Store {
  readonly #options: EtcdStoreOptions;
  readonly #connector: Connector;
  readonly #namespace: string;
  readonly #renewals = new RenewalGroup((sessions, options) => this.#renew(sessions, options));

  /** Connects when it is first used. */
  constructor(options: EtcdStoreOptions) {
    this.#options = options;
    this.#namespace = options.namespace ?? "";
    this.#connector = new Connector(options);
  }

  async range(prefix: string, options: RangeOptions): Promise<RangePage> {
    const { after, limit = STORE_LIMITS.rangeLimitMax } = options;
    checkRange(limit);
    const whole = prefixRange(this.#namespace + prefix);
    const part = after === undefined ? whole : above(whole, this.#namespace + after);
    const page = part === undefined ? [] : [{ kind: "range", query: { ...part, limit } } as const];
    // The incarnation is read in the same instant, so that it is the page's.
    const success = [readIncarnation(incarnationKey(this.#namespace)), ...page];
    return this.#with(options, false, async (connection, left) => {
      const { header, results } = await connection.transaction(
        { compares: [], success, failure: [] },
        left(),
      );
      const value = results[0]?.entries[0]?.value;
      const incarnation =
        value === undefined
          ? (await connection.learnIncarnation(left())).incarnation
          : connection.identify(header, value);
      return {
        entries: (results[1]?.entries ?? []).map((entry) => this.#entry(entry)),
        more: results[1]?.more ?? false,
        revision: header.revision,
        incarnation: incarnation.name,
        serverTimeMs: connection.serverTimeMs,
      };
    });
  }

  async commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome> {
    checkCommit(commit);
    const { incarnation } = options;
    return this.#with(options, true, (connection, left) =>
      commitTo(commit, { connection, namespace: this.#namespace, incarnation, left }),
    );
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    const range = prefixRange(this.#namespace + prefix);
    let watch: Watch | undefined;
    let closed = false;
    this.#connector.connection(WATCH_CREATE_MS).then(
      (connection) => {
        if (!closed) watch = connection.watches.add(range, after, sink);
      },
      (error: unknown) => {
        if (!closed) sink.closed(error instanceof Error ? error.message : String(error));
      },
    );
    return {
      close: () => {
        closed = true;
        watch?.close();
      },
    };
  }

  async openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    checkTtl(ttlMs);
    const session = newSessionId(this.#options.random);
    return this.#with(options, true, async (connection, left) => {
      const message = encodeGrant(session, Math.ceil(ttlMs / 1000));
      const reply = await connection.call("/etcdserverpb.Lease/LeaseGrant", message, left());
      const { ttlSeconds, header } = decodeLeaseReply(reply);
      return { session, ttlMs: ttlSeconds * 1000, ...answered(connection, header.revision) };
    });
  }

  async renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    checkSessions(sessions);
    return this.#renewals.renew(sessions, options);
  }

  async #renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    const leases = new Map<string, string>();
    const never: string[] = [];
    for (const session of sessions) {
      const lease = leaseOf(session);
      if (lease === undefined) never.push(session);
      else leases.set(lease, session);
    }
    return this.#with(options, true, async (connection, left) => {
      if (leases.size === 0) return { alive: [], gone: never, ...(await looked(connection, left())) };
      const renewal = await connection.leases.renew([...leases.keys()], left());
      const named = (ids: readonly string[]): string[] => ids.map((lease) => leases.get(lease) as string);
      return {
        alive: named(renewal.alive),
        gone: [...named(renewal.gone), ...never],
        ...answered(connection, renewal.revision),
      };
    });
  }

  async revoke(session: string, options: CallOptions): Promise<StoreReply> {
    const lease = leaseOf(session);
    return this.#with(options, true, async (connection, left) => {
      if (lease === undefined) return looked(connection, left());
      try {
        const reply = await connection.call("/etcdserverpb.Lease/LeaseRevoke", encodeLease(lease), left());
        return answered(connection, decodeLeaseReply(reply).header.revision);
      } catch (error) {
        if (!isLeaseNotFound(error)) throw error;
        return looked(connection, left());
      }
    });
  }

  /** How the member that we are connected to is, for `doctor`. Not part of the store contract. */
  async status(options: CallOptions): Promise<MemberStatus> {
    return this.#with(options, false, async (connection, left) =>
      decodeStatus(await connection.call("/etcdserverpb.Maintenance/Status", Buffer.alloc(0), left())),
    );
  }

  close(): Promise<void> {
    this.#connector.close();
    return Promise.resolve();
  }

  /** Runs a call on the connection, with one deadline for all of it. `writes`: it matters whether it arrived. */
  async #with<T>(
    { timeoutMs }: CallOptions,
    writes: boolean,
    run: (connection: EtcdConnection, left: () => number) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const deadline = clock.now() + timeoutMs;
    try {
      const connection = await this.#connector.connection(timeoutMs);
      return await run(connection, () => Math.max(0, deadline - clock.now()));
    } catch (error) {
      throw storeError(error, writes);
    }
  }

  #entry({ key, value, modRevision, lease }: KeyValue): Entry {
    return { key: key.slice(this.#namespace.length), value, revision: modRevision, session: lease };
  }
}

/** A reply that came with this revision. */
function answered(connection: EtcdConnection, revision: Revision): StoreReply {
  connection.seen(revision);
  return { revision, incarnation: connection.incarnation.name };
}

/** What to answer when there was nothing to do. */
async function looked(connection: EtcdConnection, timeoutMs: number): Promise<StoreReply> {
  const { revision, incarnation } = await connection.learnIncarnation(timeoutMs);
  return { revision, incarnation: incarnation.name };
}
