/**
 * A store on one Redis primary, version 7 or later. Each operation is one Lua script, so that it is atomic and on the server's clock; watches read a log that the same
 * scripts write. docs/design/redis.md says what is kept where, and what Redis cannot promise.
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
import { checkCommit, checkRange, checkSessions, checkTtl } from "../core/limits.ts";
import { RenewalGroup } from "../core/renewal-group.ts";
import { ChangeFeed } from "../feed/change-feed.ts";
import type { LogPage } from "../feed/change-log.ts";
import { Sweeper } from "../feed/sweeper.ts";
import type { RedisConnection } from "./connection.ts";
import { Connector } from "./connector.ts";
import { RedisFailure, errorWord, refusal, storeError } from "./failure.ts";
import { layout } from "./layout.ts";
import {
  BACKGROUND_MS,
  DEFAULT_NAMESPACE,
  LOG_LIMITS,
  LOG_PAGE,
  PAGE_BYTES_MAX,
  type RedisStoreOptions,
} from "./options.ts";
import { scripts, type ScriptName, type Scripts } from "./scripts/index.ts";
import { StreamFollower, batchOf, content, type StreamEntry } from "./stream-log.ts";

/** What a script gives: the revision, the incarnation, milliseconds until a session ends, and what is the script's own. */
type ScriptReply = readonly [Revision, string, number, ...unknown[]];

/** A store that begins anew does so once; one that has to again and again is being emptied by somebody. */
const TRIES_MAX = 3;

export class RedisStore implements Store {
  readonly #options: RedisStoreOptions;
  readonly #address: string;
  readonly #scripts: Scripts;
  readonly #keys: readonly string[];
  readonly #connector: Connector;
  readonly #feed: ChangeFeed;
  readonly #sweeper: Sweeper;
  readonly #renewals = new RenewalGroup((sessions, options) => this.#renew(sessions, options));

  /** Connects when it is first used. */
  constructor(options: RedisStoreOptions) {
    const { clock, random, host, port, namespace = DEFAULT_NAMESPACE, log } = options;
    const { keys, log: stream } = layout(namespace);
    this.#options = options;
    this.#address = `${host}:${port}`;
    this.#keys = keys;
    this.#scripts = scripts({ ...LOG_LIMITS, ...log });
    this.#connector = new Connector(options, this.#scripts);
    this.#sweeper = new Sweeper({
      clock,
      random,
      sweep: () => this.#run("sweep", [], { timeoutMs: BACKGROUND_MS }, true),
    });
    this.#feed = new ChangeFeed({
      clock,
      log: { read: (after) => this.#history(after), follow: () => new StreamFollower(options, stream) },
      watched: (any) => this.#sweeper.enable(any),
    });
  }

  async range(prefix: string, options: RangeOptions): Promise<RangePage> {
    const { after, limit = STORE_LIMITS.rangeLimitMax } = options;
    checkRange(limit);
    const args = [prefix, after === undefined ? "0" : "1", after ?? "", `${limit}`, `${PAGE_BYTES_MAX}`];
    const reply = await this.#run("range", args, options, false);
    const [more, serverTimeMs, found] = reply.slice(3) as [number, number, string[]];
    const entries: Entry[] = [];
    for (let at = 0; at < found.length; at += 2)
      entries.push(entryOf(found[at] as string, found[at + 1] as string));
    return { ...stamp(reply), entries, more: more === 1, serverTimeMs };
  }

  async commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome> {
    checkCommit(commit);
    const reply = await this.#run("commit", commitArguments(commit, options.incarnation), options, true);
    const [kind, failed, gone] = reply.slice(3) as [CommitOutcome["kind"], string[], string[]];
    return kind === "conflict"
      ? { kind, failed: [...new Set(failed)], gone, ...stamp(reply) }
      : { kind, ...stamp(reply) };
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    return this.#feed.watch(prefix, after, sink);
  }

  async openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    checkTtl(ttlMs);
    const session = newIncarnation(this.#options.random);
    const granted = Math.ceil(ttlMs);
    const reply = await this.#run("openSession", [session, `${granted}`], options, true);
    return { session, ttlMs: granted, ...stamp(reply) };
  }

  async renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    checkSessions(sessions);
    return this.#renewals.renew(sessions, options);
  }

  async #renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    const reply = await this.#run("renew", sessions, options, true);
    const alive = reply[3] as string[];
    return { alive, gone: sessions.filter((session) => !alive.includes(session)), ...stamp(reply) };
  }

  async revoke(session: string, options: CallOptions): Promise<StoreReply> {
    return stamp(await this.#run("revoke", [session], options, true));
  }

  close(): Promise<void> {
    this.#feed.endAll("closed", "this store client was closed");
    this.#connector.close();
    return Promise.resolve();
  }

  async #history(after: Revision): Promise<LogPage> {
    const options = { timeoutMs: BACKGROUND_MS };
    const reply = await this.#run("history", [`${after}`, `${LOG_PAGE}`], options, false);
    const [how, found] = reply.slice(3) as ["told" | "above" | "below", StreamEntry[]];
    if (how === "above") return { relist: `revision ${after} is above the store's ${reply[0]}` };
    if (how === "below") return { relist: `revision ${after} is too old: the log begins later` };
    return { batches: found.map(batchOf) };
  }

  /** Runs a script, with one deadline for all that it takes. `writes`: it matters whether it arrived. */
  async #run(
    name: ScriptName,
    args: readonly string[],
    { timeoutMs }: CallOptions,
    writes: boolean,
  ): Promise<ScriptReply> {
    const { clock } = this.#options;
    const deadline = clock.now() + timeoutMs;
    const left = (): number => Math.max(0, deadline - clock.now());
    try {
      const connection = await this.#connector.connection(timeoutMs);
      const reply = await this.#evaluate(connection, name, args, left);
      const [, incarnation, remainingMs] = reply;
      this.#feed.notice(incarnation);
      this.#sweeper.learn(remainingMs < 0 ? undefined : remainingMs);
      return reply;
    } catch (error) {
      throw storeError(error, this.#address, writes);
    }
  }

  /** A script that Redis does not know, or that found no state to work on, has done nothing: it is run again once that is mended. */
  async #evaluate(
    connection: RedisConnection,
    name: ScriptName,
    args: readonly string[],
    left: () => number,
  ): Promise<ScriptReply> {
    const { runId } = connection;
    const keys = [`${this.#keys.length}`, ...this.#keys, runId];
    for (let tried = 1; ; tried += 1) {
      try {
        const command = ["EVALSHA", this.#scripts[name].sha, ...keys, ...args];
        // oxlint-disable-next-line no-await-in-loop -- the next try follows what this one found missing.
        return (await connection.send(command, left())) as unknown as ScriptReply;
      } catch (error) {
        const word = errorWord(error);
        if (tried === TRIES_MAX || (word !== "NOSCRIPT" && word !== "ANEW")) throw error;
        // oxlint-disable-next-line no-await-in-loop -- the same.
        await (word === "ANEW" ? this.#begin(connection, left()) : this.#load(connection, left()));
      }
    }
  }

  async #begin(connection: RedisConnection, timeoutMs: number): Promise<void> {
    const { runId } = connection;
    const incarnation = `${runId.slice(0, 8)}-${newIncarnation(this.#options.random)}`;
    const keys = [`${this.#keys.length}`, ...this.#keys];
    const command = ["EVALSHA", this.#scripts.begin.sha, ...keys, runId, incarnation];
    await connection.send(command, timeoutMs).catch(nothingDone);
  }

  async #load(connection: RedisConnection, timeoutMs: number): Promise<void> {
    await this.#connector.load(connection, timeoutMs).catch(nothingDone);
  }
}

/** A failure while getting ready leaves no doubt about the operation itself. */
function nothingDone(error: unknown): never {
  const { message } = error instanceof RedisFailure ? error : refusal(error);
  throw new RedisFailure(message, false, { cause: error });
}

function commitArguments({ guards, writes }: Commit, incarnation: string): string[] {
  const args = [incarnation, `${guards.length}`];
  for (const { key, revision } of guards) args.push(key, `${revision}`);
  for (const write of writes) {
    if (write.kind === "delete") args.push("delete", write.key, "", "");
    else if (write.session === undefined) args.push("put", write.key, "", write.value);
    else args.push("bind", write.key, write.session, write.value);
  }
  return args;
}

function entryOf(key: string, text: string): Entry {
  const space = text.indexOf(" ");
  return { key, revision: Number(text.slice(0, space)), ...content(text.slice(space + 1)) };
}

function stamp([revision, incarnation]: ScriptReply): StoreReply {
  return { revision, incarnation };
}
