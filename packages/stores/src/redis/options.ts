/** What a Redis store is made of, and its limits. */
import type { Clock, Random } from "@keelson/kernel";
import type { LogLimits } from "./scripts/index.ts";

export interface RedisTlsOptions {
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string | undefined;
  /** Our own certificate and its key, in PEM, where the server asks for one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must bear, when it is not the host's. */
  readonly servername?: string | undefined;
}

export interface RedisStoreOptions {
  readonly clock: Clock;
  /** Chooses session ids and the names of incarnations. */
  readonly random: Random;
  readonly host: string;
  readonly port: number;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Default 0. */
  readonly database?: number | undefined;
  /** Given, even if empty, it makes every connection one with TLS. */
  readonly tls?: RedisTlsOptions | undefined;
  /** The first part of every Redis key, so that several users of one Redis stay apart. Default `keelson`. */
  readonly namespace?: string | undefined;
  /** How much of the log is kept for watches that resume. */
  readonly log?: Partial<LogLimits> | undefined;
}

export const DEFAULT_NAMESPACE = "keelson";

export const LOG_LIMITS: LogLimits = { slabRevisions: 5_000, slabBytes: 32 * 1024 * 1024 };

/** A connection gets this long to be made; each call still has its own deadline. */
export const CONNECT_MS = 3_000;
/** Commands that wait in this process; more are refused. */
export const QUEUE_MAX = 20_000;
/** Redis answers a waiting reader at least this often, so that one which hears nothing is known to be cut off. */
export const BLOCK_MS = 1_000;
/** What an answer may take beyond that. */
export const SILENCE_MS = 1_000;
/** Batches in one reading of the log. */
export const LOG_PAGE = 200;
/** A page of a listing ends early when it gets this large. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** For calls that nobody waits for. */
export const BACKGROUND_MS = 2_000;
