/**
 * Keeps one connection to the server that takes writes, made when it is first needed and made anew, to the next host, when it was lost. The schema is there and of a
 * version that we know before it is used.
 */
import type { Clock } from "@keelson/kernel";
import { PostgresConnection } from "./connection.ts";
import { connectFailure, isSchemaMissing, PostgresFailure } from "./failure.ts";
import {
  ATTEMPT_MS,
  CONNECT_MS,
  DEFAULT_SCHEMA,
  LOG_LIMITS,
  MIGRATE_MS,
  type PostgresStoreOptions,
} from "./options.ts";
import { migration, SCHEMA_VERSION, versionQuery } from "./schema/migrations.ts";

export interface LaneEvents {
  closed(reason: string): void;
  /** Given, the lane's connections ask to be notified of changes. */
  readonly notified?: (payload: string) => void;
}

export class Lane {
  readonly #options: PostgresStoreOptions;
  readonly #clock: Clock;
  readonly #events: LaneEvents;
  /** The host that is used, or tried next. */
  #next = 0;
  #current: PostgresConnection | undefined;
  #connecting: Promise<PostgresConnection> | undefined;
  #closed = false;

  constructor(options: PostgresStoreOptions, events: LaneEvents) {
    this.#options = options;
    this.#clock = options.clock;
    this.#events = events;
  }

  /** Rejects, at the latest after `timeoutMs`, with a PostgresFailure that says `sent: false`. */
  connection(timeoutMs: number): Promise<PostgresConnection> {
    if (this.#closed) return Promise.reject(closed());
    if (this.#current !== undefined) return Promise.resolve(this.#current);
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#within(this.#connecting, timeoutMs);
  }

  /** Connects ahead of a call that is about to come. What goes wrong, that call is told. */
  prepare(): void {
    this.connection(CONNECT_MS).catch(() => undefined);
  }

  close(): void {
    this.#closed = true;
    this.#current?.close();
  }

  /** Makes the schema, or brings it up to date. */
  async migrate(connection: PostgresConnection): Promise<void> {
    const { schema = DEFAULT_SCHEMA, log } = this.#options;
    try {
      await connection.run(migration(schema, { ...LOG_LIMITS, ...log }), MIGRATE_MS);
    } catch (error) {
      throw connectFailure(error, connection.address);
    }
  }

  async #connect(): Promise<PostgresConnection> {
    const { hosts } = this.#options;
    const attemptMs = hosts.length === 1 ? CONNECT_MS : ATTEMPT_MS;
    const errors: Error[] = [];
    for (let tried = 0; tried < hosts.length && !this.#closed; tried += 1) {
      const target = hosts[this.#next % hosts.length] as (typeof hosts)[number];
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next host is tried when this one fails.
        const connection = await this.#open(target, attemptMs);
        if (!this.#closed) return (this.#current = connection);
        connection.close();
      } catch (error) {
        errors.push(error as Error);
        this.#next += 1;
      }
    }
    if (errors.length === 0) throw closed();
    throw new PostgresFailure(errors.map(({ message }) => message).join("; "), false, {
      cause: errors.at(-1),
    });
  }

  async #open(target: { host: string; port: number }, timeoutMs: number): Promise<PostgresConnection> {
    const { schema = DEFAULT_SCHEMA } = this.#options;
    const connection = await PostgresConnection.open(this.#options, target, timeoutMs, {
      closed: (ended) => {
        if (this.#current !== ended) return;
        this.#current = undefined;
        this.#next += 1;
        this.#events.closed(`the connection to ${ended.address} was lost`);
      },
      notified: (payload) => this.#events.notified?.(payload),
    });
    try {
      const listens = this.#events.notified !== undefined;
      await Promise.all([
        this.#checkSchema(connection, schema, timeoutMs),
        listens ? connection.listen(schema, timeoutMs) : undefined,
      ]);
      return connection;
    } catch (error) {
      connection.close();
      throw error instanceof PostgresFailure && !error.sent
        ? error
        : connectFailure(error, connection.address);
    }
  }

  async #checkSchema(connection: PostgresConnection, schema: string, timeoutMs: number): Promise<void> {
    const found = await connection.run(versionQuery(schema), timeoutMs).catch((error: unknown) => {
      if (isSchemaMissing(error)) return [];
      throw error;
    });
    const { version, oldest } = (found[0] ?? {}) as { version?: number | null; oldest?: number | null };
    if ((version ?? 0) < SCHEMA_VERSION) await this.migrate(connection);
    else if ((oldest ?? 0) > SCHEMA_VERSION)
      throw new PostgresFailure(
        `schema ${schema} was made by a newer release (${version}, we know ${SCHEMA_VERSION}): upgrade this one`,
        false,
      );
  }

  #within(connecting: Promise<PostgresConnection>, timeoutMs: number): Promise<PostgresConnection> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () =>
        reject(
          new PostgresFailure(
            `no connection within ${Math.round(timeoutMs)} ms: check the address, the network and firewalls`,
            false,
          ),
        ),
      );
      connecting.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}

function closed(): PostgresFailure {
  return new PostgresFailure("this store client was closed", false);
}
