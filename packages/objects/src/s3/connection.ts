/** One signed request and its whole answer, over pooled connections. It tries once; what to do about a failure is up to `client.ts`. */
import type { Clock } from "@keelson/kernel";
import { Pool } from "undici";
import type { S3Answer } from "./answers.ts";
import type { S3Credentials } from "./credentials.ts";
import { exchange } from "./exchange.ts";
import { EMPTY_SHA256, Signer, encodePath, encodeQuery, sha256 } from "./sign.ts";

export interface S3Address {
  /** `http://host:port` or `https://host`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** `http://host/bucket/key` instead of `http://bucket.host/key`. */
  readonly pathStyle: boolean;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Empty for requests about the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** An answer with a longer body comes without it. */
  readonly bodyBytesMax?: number;
}

const CONNECTIONS_MAX = 64;
const CONNECT_TIMEOUT_MS = 3_000;
/** Shorter than servers and balancers keep idle connections, so that a request rarely meets the end of one. */
const IDLE_MS = 4_000;

export class S3Connection {
  readonly #address: S3Address;
  readonly #clock: Clock;
  readonly #signer: Signer;
  readonly #host: string;
  readonly #pool: Pool;

  constructor(address: S3Address, clock: Clock) {
    this.#address = address;
    this.#clock = clock;
    this.#signer = new Signer(address.region);
    const url = new URL(address.endpoint);
    this.#host = address.pathStyle ? url.host : `${address.bucket}.${url.host}`;
    this.#pool = new Pool(`${url.protocol}//${this.#host}`, {
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      // Every call has a deadline of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Throws TransportError, also when `signal` ends it. */
  send(request: S3Request, credentials: S3Credentials, signal: AbortSignal): Promise<S3Answer> {
    const { method, key, query = {}, headers = {}, body } = request;
    const base = this.#address.pathStyle ? `/${encodePath(this.#address.bucket)}` : "";
    const path = key === "" ? base || "/" : `${base}/${encodePath(key)}`;
    const encoded = encodeQuery(query);
    const signed = this.#signer.sign(
      {
        method,
        host: this.#host,
        path,
        query: encoded,
        headers,
        bodySha256: body === undefined ? EMPTY_SHA256 : sha256(body),
        wallMs: this.#clock.wall(),
      },
      credentials,
    );
    return exchange(
      this.#pool,
      {
        method,
        path: encoded === "" ? path : `${path}?${encoded}`,
        headers: signed,
        body: body ?? null,
      },
      request.bodyBytesMax ?? Infinity,
      signal,
    );
  }

  /** Waits for what is under way. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
