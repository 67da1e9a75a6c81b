/**
 * One connection to one Postgres server, or to a pooler before it. It is never made again by itself: a statement is sent once or not at all. Each call is one message and
 * one transaction, with its own time limit on the server and here, and leaves nothing behind in the session; so a pooler may hand the session to somebody else.
 */
import type { Clock } from "@keelson/kernel";
import { connect, isIP, type Socket } from "node:net";
import postgres from "postgres";
import { connectFailure, PostgresFailure, refusal, servesNoMore } from "./failure.ts";
import { WAITING_MAX, type PostgresStoreOptions } from "./options.ts";

export interface ConnectionEvents {
  closed(connection: PostgresConnection): void;
  notified(payload: string): void;
}

type Row = Readonly<Record<string, unknown>>;

/** The server gives up before we do, so that it can say that nothing was done. */
const SERVER_SHARE = 0.9;
/** Statements that are sent before the answer to the first has come. */
const PIPELINED_MAX = 100;

export class PostgresConnection {
  readonly address: string;
  readonly #clock: Clock;
  readonly #sql: postgres.Sql;
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  #heardAt: number;
  /** Ends a call that has no answer yet. */
  readonly #waiting = new Set<(failure: Error) => void>();
  #open = true;

  /** Rejects with a PostgresFailure that says `sent: false`: whatever the caller wanted to send was not. */
  static async open(
    options: PostgresStoreOptions,
    { host, port }: { readonly host: string; readonly port: number },
    timeoutMs: number,
    events: ConnectionEvents,
  ): Promise<PostgresConnection> {
    const { clock } = options;
    const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    const socket = Object.assign(connect({ host, port, noDelay: true }), { host });
    let timedOut = false;
    const timer = clock.after(timeoutMs, () => {
      timedOut = true;
      socket.destroy();
    });
    try {
      await opened(socket);
      // The library makes the session with the first statement.
      return new PostgresConnection(options, address, socket, events);
    } catch (error) {
      socket.destroy();
      const silent = `no answer within ${timeoutMs} ms: check the address, the network and firewalls`;
      throw connectFailure(timedOut ? new PostgresFailure(silent, false) : error, address);
    } finally {
      timer.cancel();
    }
  }

  private constructor(
    options: PostgresStoreOptions,
    address: string,
    socket: Socket,
    events: ConnectionEvents,
  ) {
    this.address = address;
    this.#clock = options.clock;
    this.#socket = socket;
    this.#events = events;
    this.#heardAt = options.clock.now();
    this.#sql = session(options, socket, (payload) => {
      this.#heardAt = options.clock.now();
      events.notified(payload);
    });
    socket.once("close", () => this.close());
  }

  /** Runs one statement in a transaction of its own. Rejects with a PostgresFailure, or with Postgres' own error. */
  async run(statement: string, timeoutMs: number): Promise<readonly Row[]> {
    const limit = Math.max(1, Math.floor(timeoutMs * SERVER_SHARE));
    const results = await this.#send(
      `set transaction isolation level read committed read write;set local statement_timeout=${limit};${statement}`,
      timeoutMs,
    );
    return results.at(-1) as readonly Row[];
  }

  /** Has the server notify this session from now on. */
  async listen(channel: string, timeoutMs: number): Promise<void> {
    await this.#send(`listen "${channel}"`, timeoutMs);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#socket.destroy();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    // The library tells those whose statement it has sent; others would wait for as long as they may.
    for (const end of waiting)
      end(new PostgresFailure("the connection was lost before an answer came", true));
    this.#events.closed(this);
  }

  #send(text: string, timeoutMs: number): Promise<readonly unknown[]> {
    if (!this.#open) return Promise.reject(new PostgresFailure("the connection was lost", false));
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(new PostgresFailure(`${WAITING_MAX} calls wait already`, false));
    const sentAt = this.#clock.now();
    return new Promise((resolve, reject) => {
      const end = (failure: Error): void => {
        timer.cancel();
        reject(failure);
      };
      const timer = this.#clock.after(timeoutMs, () => {
        reject(new PostgresFailure(`no answer within ${Math.round(timeoutMs)} ms`, true));
        if (this.#heardAt <= sentAt) this.close();
      });
      this.#waiting.add(end);
      this.#sql.unsafe(text).then(
        (results) => {
          this.#waiting.delete(end);
          timer.cancel();
          this.#heardAt = this.#clock.now();
          resolve(results as readonly unknown[]);
        },
        (error: unknown) => {
          this.#waiting.delete(end);
          end(this.#failed(error));
        },
      );
    });
  }

  #failed(error: unknown): Error {
    if (error instanceof postgres.PostgresError) {
      this.#heardAt = this.#clock.now();
      if (!servesNoMore(error)) return error;
      this.close();
      return refusal(error);
    }
    const message = error instanceof Error ? error.message : String(error);
    return new PostgresFailure(`the connection was lost before an answer came (${message})`, true, {
      cause: error,
    });
  }
}

/** The library's side of it. Whatever it could take from the environment is set, except the password (PGPASSWORD). */
function session(
  { user, password, database, tls, listen = true }: PostgresStoreOptions,
  socket: Socket & { host?: string },
  notified: (payload: string) => void,
): postgres.Sql {
  let given = false;
  const options = {
    host: socket.host ?? "",
    port: socket.remotePort ?? 0,
    user,
    database,
    ...(password === undefined ? {} : { password }),
    ssl: tls === undefined ? false : tlsOptions(tls, socket.host ?? ""),
    max: 1,
    prepare: false,
    // A pooler that lends sessions by the transaction may lend one to the next client when the first of several statements is answered, and with it the answers to the others.
    max_pipeline: listen ? PIPELINED_MAX : 0,
    fetch_types: false,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 0,
    keep_alive: 30,
    connection: { application_name: "keelson" },
    onnotice: () => {},
    onnotify: (_channel: string, payload: string) => notified(payload),
    /** There is one socket; where the library asks for another, the connection is lost. */
    socket: () => {
      if (given) throw new Error("the connection was lost");
      given = true;
      return socket;
    },
  };
  return postgres(options as postgres.Options<Record<string, never>>);
}

function tlsOptions(tls: NonNullable<PostgresStoreOptions["tls"]>, host: string): object {
  const { verify = true, servername = isIP(host) === 0 ? host : undefined, ca, cert, key } = tls;
  const all = Object.entries({ servername, ca, cert, key }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(all), rejectUnauthorized: verify };
}

function opened(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    // Listened to for as long as the socket lives: the library does so only while it uses it, and an error that nobody hears ends the process. Its `close` follows.
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("it was closed")));
  });
}
