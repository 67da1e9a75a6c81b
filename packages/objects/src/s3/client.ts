/**
 * A request with its retries. What may be sent again, and when, is the whole matter here:
 *
 * - Before the server can have seen a request, and after it said "come again", anything is sent again.
 * - When the end of a request was not seen, reads and fences are sent again. Writes are not: the lost one may still arrive, after a later write.
 *
 * Tries are spaced by back-off and end with the call's deadline. Credentials that the server refuses are read again once.
 */
import { backoffMs, type Clock, type Random } from "@keelson/kernel";
import type { Deadline } from "../deadline.ts";
import { ObjectError } from "../errors.ts";
import { answerError, isPassing, isStaleCredentials, type S3Answer } from "./answers.ts";
import { S3Connection, type S3Address, type S3Request } from "./connection.ts";
import type { CredentialsSource, S3Credentials } from "./credentials.ts";
import { TransportError } from "./exchange.ts";

export interface S3ClientOptions {
  readonly address: S3Address;
  readonly credentials: CredentialsSource;
  readonly clock: Clock;
  readonly random: Random;
  /** A read or fence without an answer is sent again on another connection after this long, and a little more for a large body. */
  readonly tryTimeoutMs?: number | undefined;
}

export interface RequestTerms {
  /** For messages. */
  readonly what: string;
  /** Statuses that are answers and not failures. */
  readonly expected: readonly number[];
  readonly kind: RequestKind;
}

/**
 * `read` changes nothing that anybody sees, however often it is sent. `fence` changes something once, however often it is sent and whenever it arrives.
 * `write` must not arrive after a later write, so it is not sent again while an earlier one may still arrive.
 */
export type RequestKind = "read" | "fence" | "write";

export interface RequestAnswer extends S3Answer {
  /** An earlier try may have been applied, and this answer may be to what it did. */
  readonly unseen: boolean;
}

/** Sent, and its end not seen: by a lost connection, or by an answer that does not tell. */
export class UnseenEnd extends Error {
  override readonly name = "UnseenEnd";
}

const TRIES_MAX = 8;
const BACKOFF = { firstMs: 30, maxMs: 2_000 };
const TRY_TIMEOUT_MS = 5_000;
/** What even a slow line carries. */
const BODY_BYTES_PER_MS = 1_000;

export class S3Client {
  readonly address: S3Address;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #source: CredentialsSource;
  readonly #connection: S3Connection;
  readonly #tryTimeoutMs: number;
  #credentials: Promise<S3Credentials> | undefined;

  constructor({ address, credentials, clock, random, tryTimeoutMs = TRY_TIMEOUT_MS }: S3ClientOptions) {
    this.address = address;
    this.#clock = clock;
    this.#random = random;
    this.#source = credentials;
    this.#connection = new S3Connection(address, clock);
    this.#tryTimeoutMs = tryTimeoutMs;
  }

  /** An answer with an expected status. Throws UnseenEnd, or an ObjectError of a request that was not applied. */
  async request(request: S3Request, terms: RequestTerms, deadline: Deadline): Promise<RequestAnswer> {
    const applies = terms.kind !== "read";
    let reread = false;
    let unseen = false;
    let last: ObjectError | undefined;
    for (let tried = 1; ; tried += 1) {
      this.#check(deadline, last);
      if (applies) deadline.applying();
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next try comes after this one.
        const answer = await this.#try(request, terms, deadline);
        if (terms.expected.includes(answer.status)) return { ...answer, unseen };
        if (!reread && isStaleCredentials(answer)) {
          reread = true;
          this.#credentials = undefined;
          continue;
        }
        last = answerError(answer, terms.what, this.address);
        if (!isPassing(answer)) throw last;
        unseen ||= applies && mayBeApplied(answer);
        if (terms.kind === "write" && !isOver(answer)) throw new UnseenEnd(last.message, { cause: last });
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        // What the end of the time cut off says less than what went wrong before it.
        if (last === undefined || !deadline.over) last = this.#unreached(error, terms.what);
        unseen ||= applies && error.sent;
        if (terms.kind === "write" && error.sent) throw new UnseenEnd(last.message, { cause: last });
      }
      if (!unseen) deadline.notApplied();
      if (tried === TRIES_MAX) throw unseen ? new UnseenEnd(last.message, { cause: last }) : last;
      // oxlint-disable-next-line no-await-in-loop -- a wait between tries.
      await this.#wait(tried, deadline, last);
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** One try, with a shorter time of its own when another one may follow it. */
  async #try(request: S3Request, { kind }: RequestTerms, deadline: Deadline): Promise<S3Answer> {
    this.#credentials ??= this.#source();
    const reading = this.#credentials;
    let credentials: S3Credentials;
    try {
      credentials = await deadline.race(reading);
    } catch (error) {
      // The next request asks again.
      if (this.#credentials === reading) this.#credentials = undefined;
      throw error;
    }
    if (kind === "write") return this.#connection.send(request, credentials, deadline.signal);
    const abort = new AbortController();
    const end = (): void => abort.abort();
    const bodyMs = (request.body?.length ?? 0) / BODY_BYTES_PER_MS;
    const timer = this.#clock.after(this.#tryTimeoutMs + bodyMs, end);
    deadline.signal.addEventListener("abort", end, { once: true });
    try {
      return await this.#connection.send(request, credentials, abort.signal);
    } finally {
      timer.cancel();
      deadline.signal.removeEventListener("abort", end);
    }
  }

  async #wait(tried: number, deadline: Deadline, last: ObjectError): Promise<void> {
    try {
      await deadline.sleep(backoffMs(BACKOFF, tried, this.#random));
    } catch {
      this.#check(deadline, last);
    }
  }

  /** Throws when the call is over, with what went wrong before it was. */
  #check(deadline: Deadline, last: ObjectError | undefined): void {
    if (!deadline.over) return;
    const { code, message } = deadline.error();
    throw new ObjectError(code, last === undefined ? message : `${message}; the last try: ${last.message}`, {
      cause: last,
    });
  }

  #unreached({ message, cause }: TransportError, what: string): ObjectError {
    return new ObjectError(
      "OBJECT_UNAVAILABLE",
      `${what}: no answer from ${this.address.endpoint} (${message})`,
      {
        cause,
      },
    );
  }
}

/** The server itself spoke, and is done with the request. A gateway's 502 or 504 says nothing about what is behind it. */
function isOver({ status }: S3Answer): boolean {
  return status !== 502 && status !== 504;
}

/** "Slow down" and its like come before anything is done; other failures may come after. */
function mayBeApplied({ status }: S3Answer): boolean {
  return status >= 500 && status !== 503;
}
