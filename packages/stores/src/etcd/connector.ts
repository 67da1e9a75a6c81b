/**
 * Keeps one connection to one of etcd's endpoints, made when it is first needed and made anew, to the next endpoint, when it was lost. There is never more than
 * one, so replies never come from two members at once.
 */
import type { Clock } from "@keelson/kernel";
import { EtcdConnection, type EtcdConnectionOptions } from "./connection.ts";
import { GRPC, GrpcError, notSent } from "./grpc/status.ts";
import { targetName, type Target } from "./grpc/target.ts";
import { incarnationKey } from "./incarnation.ts";
import { ATTEMPT_MS, LONE_ATTEMPT_MS, targets, type EtcdStoreOptions } from "./options.ts";

const HINT = "check the address, and that etcd runs there";

export class Connector {
  readonly #clock: Clock;
  readonly #options: Omit<EtcdConnectionOptions, "target">;
  readonly #targets: readonly Target[];
  /** The endpoint that is used, or tried next. */
  #next: number;
  #current: EtcdConnection | undefined;
  #connecting: Promise<EtcdConnection> | undefined;
  #closed = false;

  constructor(options: EtcdStoreOptions) {
    const { clock, random, user, namespace = "" } = options;
    this.#clock = clock;
    this.#targets = targets(options);
    this.#next = Math.floor(random() * this.#targets.length);
    this.#options = {
      clock,
      random,
      user,
      namespace,
      incarnationKey: incarnationKey(namespace),
      closed: (connection) => {
        if (this.#current !== connection) return;
        this.#current = undefined;
        this.#next += 1;
      },
    };
  }

  /** The connection, made if there is none. Rejects, at the latest after `timeoutMs`, with a GrpcError that says `sent: false`. */
  connection(timeoutMs: number): Promise<EtcdConnection> {
    if (this.#closed) return Promise.reject(notSent("the client was closed"));
    if (this.#current !== undefined) return Promise.resolve(this.#current);
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#within(this.#connecting, timeoutMs);
  }

  close(): void {
    this.#closed = true;
    this.#current?.close("the client was closed");
  }

  async #connect(): Promise<EtcdConnection> {
    const attemptMs = this.#targets.length === 1 ? LONE_ATTEMPT_MS : ATTEMPT_MS;
    const errors: GrpcError[] = [];
    for (let tried = 0; tried < this.#targets.length && !this.#closed; tried += 1) {
      const target = this.#targets[this.#next % this.#targets.length] as Target;
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next endpoint is tried when this one fails.
        const connection = await EtcdConnection.open({ ...this.#options, target }, attemptMs);
        if (!this.#closed) return (this.#current = connection);
        connection.close("the client was closed");
      } catch (error) {
        errors.push(error as GrpcError);
        this.#next += 1;
      }
    }
    if (this.#closed) throw notSent("the client was closed");
    const message = errors.map((error) => error.message).join("; ");
    const unreachable = errors.every(
      ({ code }) => code === GRPC.unavailable || code === GRPC.deadlineExceeded,
    );
    const hint = unreachable ? ` (${HINT})` : "";
    throw new GrpcError(errors[0]?.code ?? GRPC.unavailable, message + hint, false, { cause: errors.at(-1) });
  }

  #within(connecting: Promise<EtcdConnection>, timeoutMs: number): Promise<EtcdConnection> {
    return new Promise((resolve, reject) => {
      const names = this.#targets.map(targetName).join(", ");
      const timer = this.#clock.after(timeoutMs, () =>
        reject(notSent(`no connection to ${names} within ${timeoutMs} ms (${HINT})`)),
      );
      connecting.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}
