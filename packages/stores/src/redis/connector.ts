/** Keeps one connection for commands, made when it is first needed and made anew when it was lost; the scripts are loaded into Redis before it is used. */
import type { Clock } from "@keelson/kernel";
import { RedisConnection } from "./connection.ts";
import { connectFailure, noAnswer, RedisFailure } from "./failure.ts";
import { CONNECT_MS, type RedisStoreOptions } from "./options.ts";
import type { Scripts } from "./scripts/index.ts";

export class Connector {
  readonly #options: RedisStoreOptions;
  readonly #clock: Clock;
  readonly #scripts: Scripts;
  #current: RedisConnection | undefined;
  #connecting: Promise<RedisConnection> | undefined;
  #closed = false;

  constructor(options: RedisStoreOptions, scripts: Scripts) {
    this.#options = options;
    this.#clock = options.clock;
    this.#scripts = scripts;
  }

  /** Rejects, at the latest after `timeoutMs`, with a RedisFailure that says `sent: false`. */
  connection(timeoutMs: number): Promise<RedisConnection> {
    if (this.#closed) return Promise.reject(closed());
    if (this.#current !== undefined) return Promise.resolve(this.#current);
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#within(this.#connecting, timeoutMs);
  }

  /** Somebody may have emptied Redis' memory of scripts. */
  async load(connection: RedisConnection, timeoutMs: number): Promise<void> {
    const loading = Object.values(this.#scripts).map(({ source }) =>
      connection.send(["SCRIPT", "LOAD", source], timeoutMs),
    );
    await Promise.all(loading);
  }

  close(): void {
    this.#closed = true;
    this.#current?.close();
  }

  async #connect(): Promise<RedisConnection> {
    const connection = await RedisConnection.open(this.#options, CONNECT_MS, (ended) => {
      if (this.#current === ended) this.#current = undefined;
    });
    try {
      await this.load(connection, CONNECT_MS);
      if (this.#closed) throw closed();
    } catch (error) {
      connection.close();
      throw connectFailure(error);
    }
    this.#current = connection;
    return connection;
  }

  #within(connecting: Promise<RedisConnection>, timeoutMs: number): Promise<RedisConnection> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () =>
        reject(noAnswer(timeoutMs, this.#options.tls !== undefined)),
      );
      connecting.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}

function closed(): RedisFailure {
  return new RedisFailure("this store client was closed", false);
}
