/** What a Postgres store is made of, and its limits. */
import type { Clock, Random } from "@keelson/kernel";

/** How much of the log is kept: at least one slab, at most two. */
export interface LogLimits {
  readonly slabRevisions: number;
  readonly slabBytes: number;
}

export interface PostgresTlsOptions {
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string | undefined;
  /** Our own certificate and its key, in PEM, where the server asks for one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must bear, when it is not the host's. */
  readonly servername?: string | undefined;
  /** False takes any certificate, as `sslmode=require` does elsewhere: it hides what is said, not from whom. Default true. */
  readonly verify?: boolean | undefined;
}

export interface PostgresStoreOptions {
  readonly clock: Clock;
  /** Chooses session ids. */
  readonly random: Random;
  /** Servers of one cluster; the one that takes writes is used. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly user: string;
  readonly password?: string | undefined;
  readonly database: string;
  /** Given, even if empty, it makes every connection one with TLS. */
  readonly tls?: PostgresTlsOptions | undefined;
  /** Where the tables are, so that several users of one database stay apart. Default `keelson`. */
  readonly schema?: string | undefined;
  /** False behind a pooler that gives a connection to somebody else between transactions. Watches are slower then. Default true. */
  readonly listen?: boolean | undefined;
  /** Of a schema that this store makes. */
  readonly log?: Partial<LogLimits> | undefined;
}

export const DEFAULT_SCHEMA = "keelson";
/** What a schema may be called: it is used unquoted in SQL that operators write. */
export const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,40}$/;

export const LOG_LIMITS: LogLimits = { slabRevisions: 5_000, slabBytes: 32 * 1024 * 1024 };

/** A connection gets this long to be made; each call still has its own deadline. */
export const CONNECT_MS = 3_000;
/** With several hosts, one gets this long before the next is tried. */
export const ATTEMPT_MS = 1_000;
/** Calls that wait in this process; more are refused. */
export const WAITING_MAX = 20_000;
/** Commits that go in one transaction. */
export const GROUP_MAX = 64;
/** Bytes of commits in one transaction; a larger commit goes alone. */
export const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** Batches in one reading of the log, and their bytes. */
export const LOG_PAGE = 200;
export const LOG_PAGE_BYTES = 4 * 1024 * 1024;
/** A page of a listing ends early when it gets this large. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** How often the log is looked at where notifications come, and where they do not. */
export const POLL_HINTED_MS = 2_000;
export const POLL_MS = 100;
/** For calls that nobody waits for. */
export const BACKGROUND_MS = 2_000;
/** Making the schema waits for others who make it. */
export const MIGRATE_MS = 10_000;
