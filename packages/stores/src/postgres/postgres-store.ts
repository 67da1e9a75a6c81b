/**
 * A store on Postgres 14 or later. Keys, sessions and the log of changes are tables of a schema of its own, and each operation is one function there, called in one message;
 * docs/design/postgres.md says what is kept where, and what it costs. It holds two connections: one for what waits for the disk and for each other, one for the rest.
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
import { newIncarnation } from "../core/incarnation.ts";
import { checkCommit, checkRange, checkSessions, checkTtl, rejected } from "../core/limits.ts";
import { RenewalGroup } from "../core/renewal-group.ts";
import { ChangeFeed } from "../feed/change-feed.ts";
import type { LogPage } from "../feed/change-log.ts";
import { Sweeper } from "../feed/sweeper.ts";
import { CommitGroup } from "./commit-group.ts";
import { isSchemaMissing, storeError } from "./failure.ts";
import { prefixEnd } from "./key-range.ts";
import { Lane } from "./lane.ts";
import { jsonLiteral } from "./literal.ts";
import {
  BACKGROUND_MS,
  DEFAULT_SCHEMA,
  LOG_PAGE,
  LOG_PAGE_BYTES,
  PAGE_BYTES_MAX,
  SCHEMA_NAME,
  type PostgresStoreOptions,
} from "./options.ts";
import { TableFollower, batchOf, type LogRow } from "./table-log.ts";

/** What every function gives: the revision, the incarnation, and milliseconds until a session ends. */
interface Reply {
  readonly r: Revision;
  readonly i: string;
  readonly n: number | null;
}

/** What is said of each commit of a group. */
interface Said {
  readonly kind: CommitOutcome["kind"];
  readonly r: Revision;
  readonly failed?: readonly string[] | null;
  readonly gone?: readonly string[] | null;
}

type Row = readonly [key: string, value: string, revision: Revision, session: string | null];

export class PostgresStore implements Store {
  readonly #options: PostgresStoreOptions;
  readonly #address: string;
  readonly #schema: string;
  readonly #lane: Lane;
  readonly #commitLane: Lane;
  readonly #commits: CommitGroup<CommitOutcome>;
  readonly #feed: ChangeFeed;
  readonly #followers = new Set<TableFollower>();
  readonly #sweeper: Sweeper;
  readonly #renewals = new RenewalGroup((sessions, options) => this.#renew(sessions, options));

  /** Connects when it is first used. Throws a RangeError for a schema's name that cannot be one. */
  constructor(options: PostgresStoreOptions) {
    const { clock, random, hosts, listen = true, schema = DEFAULT_SCHEMA } = options;
    if (!SCHEMA_NAME.test(schema))
      throw new RangeError(`schema "${schema}": it may have small letters, digits and _, 41 at most`);
    this.#options = options;
    this.#schema = schema;
    this.#address = hosts.map(({ host, port }) => `${host}:${port}`).join(",");
    const notified = (payload: string): void => this.#notice(Number(payload));
    this.#lane = new Lane(options, {
      closed: (reason) => this.#feed.endAll("closed", reason),
      ...(listen ? { notified } : {}),
    });
    this.#commitLane = new Lane(options, { closed: () => {} });
    this.#commits = new CommitGroup({
      clock,
      send: (group, timeoutMs, sent) => this.#commitAll(group, timeoutMs, sent),
    });
    this.#sweeper = new Sweeper({
      clock,
      random,
      sweep: () => this.#call(this.#lane, "sweep", {}, { timeoutMs: BACKGROUND_MS }, true),
    });
    this.#feed = new ChangeFeed({
      clock,
      log: { read: (after) => this.#history(after), follow: () => this.#follow(listen) },
      watched: (any) => this.#sweeper.enable(any),
    });
  }

  async range(prefix: string, options: RangeOptions): Promise<RangePage> {
    const { after = "", limit = STORE_LIMITS.rangeLimitMax } = options;
    checkRange(limit);
    checkText(prefix, after);
    const asked = { from: prefix, above: after, below: prefixEnd(prefix), limit, bytes: PAGE_BYTES_MAX };
    const reply = await this.#call<{ page: readonly Row[]; more: boolean; time: number }>(
      this.#lane,
      "range",
      asked,
      options,
      false,
    );
    return {
      ...stamp(reply),
      entries: reply.page.map(entryOf),
      more: reply.more,
      serverTimeMs: reply.time,
    };
  }

  async commit(commit: Commit, { incarnation, timeoutMs }: CommitOptions): Promise<CommitOutcome> {
    checkCommit(commit);
    checkText(incarnation, ...commit.guards.map(({ key }) => key));
    for (const write of commit.writes) {
      checkText(write.key);
      if (write.kind === "put") checkText(write.value, write.session ?? "");
    }
    try {
      return await this.#commits.commit(commit, incarnation, timeoutMs);
    } catch (error) {
      throw storeError(error, this.#address, true);
    }
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    return this.#feed.watch(prefix, after, sink);
  }

  async openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    checkTtl(ttlMs);
    // Who has a session is about to commit.
    this.#commitLane.prepare();
    const session = newIncarnation(this.#options.random);
    const granted = Math.ceil(ttlMs);
    const asked = { id: session, ttl: granted };
    const reply = await this.#call(this.#lane, "open_session", asked, options, true);
    return { session, ttlMs: granted, ...stamp(reply) };
  }

  async renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    checkSessions(sessions);
    checkText(...sessions);
    return this.#renewals.renew(sessions, options);
  }

  async #renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    const reply = await this.#call<{ alive: string[] }>(this.#lane, "renew", sessions, options, true);
    const alive = sessions.filter((session) => reply.alive.includes(session));
    return { alive, gone: sessions.filter((session) => !alive.includes(session)), ...stamp(reply) };
  }

  async revoke(session: string, options: CallOptions): Promise<StoreReply> {
    checkText(session);
    return stamp(await this.#call(this.#commitLane, "revoke", session, options, true));
  }

  close(): Promise<void> {
    this.#feed.endAll("closed", "this store client was closed");
    this.#lane.close();
    this.#commitLane.close();
    return Promise.resolve();
  }

  async #commitAll(
    group: readonly unknown[],
    timeoutMs: number,
    sent: () => void,
  ): Promise<readonly CommitOutcome[]> {
    const reply = await this.#call<{ said: readonly Said[] }>(
      this.#commitLane,
      "commit",
      group,
      { timeoutMs },
      true,
      sent,
    );
    return reply.said.map(({ kind, r: revision, failed, gone }) => {
      const at = { revision, incarnation: reply.i };
      return kind === "conflict" ? { kind, failed: failed ?? [], gone: gone ?? [], ...at } : { kind, ...at };
    });
  }

  async #history(after: Revision): Promise<LogPage> {
    const asked = { after, limit: LOG_PAGE, bytes: LOG_PAGE_BYTES };
    const options = { timeoutMs: BACKGROUND_MS };
    const reply = await this.#call<{ batches: readonly LogRow[] }>(
      this.#lane,
      "history",
      asked,
      options,
      false,
    );
    if (after > reply.r) return { relist: `revision ${after} is above the store's ${reply.r}` };
    if (after < reply.r && reply.batches[0]?.[0] !== after + 1)
      return { relist: `revision ${after} is too old: the log begins later` };
    return { batches: reply.batches.map((row) => batchOf(row, reply.i)) };
  }

  #follow(hinted: boolean): TableFollower {
    const follower = new TableFollower({
      clock: this.#options.clock,
      hinted,
      read: (after) => this.#history(after),
      closed: (ended) => void this.#followers.delete(ended),
    });
    this.#followers.add(follower);
    return follower;
  }

  #notice(revision: Revision): void {
    for (const follower of this.#followers) follower.notice(revision);
  }

  /** Calls a function of the schema, with one deadline for all that it takes. `writes`: it matters whether it arrived. */
  async #call<T>(
    lane: Lane,
    name: string,
    asked: unknown,
    { timeoutMs }: CallOptions,
    writes: boolean,
    sent: () => void = () => {},
  ): Promise<T & Reply> {
    const { clock } = this.#options;
    const deadline = clock.now() + timeoutMs;
    const left = (): number => Math.max(1, deadline - clock.now());
    const statement = `select "${this.#schema}".${name}(${jsonLiteral(asked)}) as reply`;
    try {
      const connection = await lane.connection(timeoutMs);
      sent();
      const rows = await connection.run(statement, left()).catch(async (error: unknown) => {
        if (!isSchemaMissing(error)) throw error;
        // Somebody dropped it: nothing was done, and what follows is another store.
        await lane.migrate(connection);
        return connection.run(statement, left());
      });
      const reply = rows[0]?.["reply"] as T & Reply;
      this.#feed.notice(reply.i);
      this.#sweeper.learn(reply.n ?? undefined);
      this.#notice(reply.r);
      return reply;
    } catch (error) {
      throw storeError(error, this.#address, writes);
    }
  }
}

/** Postgres has no text with a zero byte. */
function checkText(...texts: readonly string[]): void {
  if (texts.some((text) => text.includes("\0")))
    throw rejected("a key or a value has a zero byte, which Postgres cannot keep");
}

function entryOf([key, value, revision, session]: Row): Entry {
  return session === null ? { key, value, revision } : { key, value, revision, session };
}

function stamp({ r: revision, i: incarnation }: Reply): StoreReply {
  return { revision, incarnation };
}
