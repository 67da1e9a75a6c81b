/**
 * One connection to one Redis process. It is never made again by itself: a command is sent once or not at all, and what happened to those under way when it ends is for
 * the caller to think about. Every command has a deadline; a connection on which nothing was heard for the whole of one is given up.
 */
import {
  createClient,
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  ErrorReply,
  type RedisClientOptions,
} from "@redis/client";
import type { Clock } from "@keelson/kernel";
import { isIP } from "node:net";
import { connectFailure, noAnswer, refusal, RedisFailure, servesNoMore } from "./failure.ts";
import { QUEUE_MAX, type RedisStoreOptions } from "./options.ts";
import { serverIdentity } from "./server-identity.ts";

type Reply = string | number | null | readonly Reply[];

function newClient(options: RedisStoreOptions, timeoutMs: number) {
  const { host, port, user, password, database, tls } = options;
  const servername = isIP(host) === 0 ? host : undefined;
  const common = { host, port, connectTimeout: timeoutMs, reconnectStrategy: false } as const;
  return createClient({
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandsQueueMaxLength: QUEUE_MAX,
    // Deadlines are ours; the library's own would cost a signal for every command.
    commandOptions: { timeout: 0 },
    socket: tls === undefined ? common : { ...common, ...given({ servername, ...tls }), tls: true },
    ...given({ username: user, password, database }),
  } as RedisClientOptions & { RESP: 2 });
}

/** Without what is undefined. */
function given<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export class RedisConnection {
  /** Names the Redis process that this is a connection to. */
  readonly runId: string;
  readonly #clock: Clock;
  readonly #client: ReturnType<typeof newClient>;
  readonly #closed: (connection: RedisConnection) => void;
  #heardAt: number;
  #open = true;

  /** Rejects with a RedisFailure that says `sent: false`: whatever the caller wanted to send was not. */
  static async open(
    options: RedisStoreOptions,
    timeoutMs: number,
    closed: (connection: RedisConnection) => void,
  ): Promise<RedisConnection> {
    const { clock } = options;
    const client = newClient(options, timeoutMs);
    let connection: RedisConnection | undefined;
    // Its commands are rejected with the same error.
    client.on("error", () => connection?.close());
    let timedOut = false;
    const timer = clock.after(timeoutMs, () => {
      timedOut = true;
      client.destroy();
    });
    try {
      await client.connect();
      const info = await client.sendCommand<string>(["INFO", "server", "replication", "memory"]);
      if (timedOut) throw new Error("too late");
      connection = new RedisConnection(options, client, serverIdentity(info), closed);
      return connection;
    } catch (error) {
      client.destroy();
      if (timedOut || error instanceof ConnectionTimeoutError)
        throw noAnswer(timeoutMs, options.tls !== undefined);
      throw connectFailure(error);
    } finally {
      timer.cancel();
    }
  }

  private constructor(
    { clock }: RedisStoreOptions,
    client: ReturnType<typeof newClient>,
    runId: string,
    closed: (connection: RedisConnection) => void,
  ) {
    this.#clock = clock;
    this.#client = client;
    this.#closed = closed;
    this.#heardAt = clock.now();
    this.runId = runId;
  }

  /** Sends a command. Rejects with a RedisFailure, or with Redis' own error. */
  send(command: readonly string[], timeoutMs: number): Promise<Reply> {
    if (!this.#open) return Promise.reject(new RedisFailure("the connection was lost", false));
    const sentAt = this.#clock.now();
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () => {
        reject(new RedisFailure(`no answer within ${Math.round(timeoutMs)} ms`, true));
        if (this.#heardAt <= sentAt) this.close();
      });
      this.#client.sendCommand<Reply>(command as string[]).then(
        (reply) => {
          timer.cancel();
          this.#heardAt = this.#clock.now();
          resolve(reply);
        },
        (error: unknown) => {
          timer.cancel();
          reject(this.#failed(error));
        },
      );
    });
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#client.destroy();
    this.#closed(this);
  }

  #failed(error: unknown): Error {
    if (error instanceof ErrorReply) {
      this.#heardAt = this.#clock.now();
      if (!servesNoMore(error)) return error;
      this.close();
      return refusal(error);
    }
    const message = error instanceof Error ? error.message : String(error);
    const unsent =
      error instanceof ClientOfflineError ||
      error instanceof ClientClosedError ||
      /queue is full/.test(message);
    return new RedisFailure(
      unsent ? `not sent: ${message}` : `the connection was lost before an answer came (${message})`,
      !unsent,
      { cause: error },
    );
  }
}
