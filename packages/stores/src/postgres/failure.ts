/** What went wrong with Postgres, whether the statement may have been carried out, and what to do about it, in one line. */
import { StoreError } from "@keelson/kernel";
import postgres from "postgres";

export class PostgresFailure extends Error {
  override readonly name = "PostgresFailure";
  /** The statement may have been carried out, or may yet be. */
  readonly sent: boolean;
  /** Trying again will not help. */
  readonly rejected: boolean;

  constructor(message: string, sent: boolean, options?: { cause?: unknown; rejected?: boolean }) {
    super(message, options);
    this.sent = sent;
    this.rejected = options?.rejected ?? false;
  }
}

/** Error codes of Postgres, or the beginnings of them, and what a person can do. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^28/, "the user name or the password is wrong, or pg_hba.conf does not let this user in from here"],
  [/^3D000/, "there is no database of that name: create it"],
  [
    /^42501/,
    "the user may not do this: give it the schema (grant all on schema, tables and functions), or let it create one",
  ],
  [/^53300/, "it has no connection left: raise max_connections, or put a pooler before it"],
  [/^53[12]/, "it is out of memory or disk"],
  [/^57014/, "it was busy for longer than the call may take"],
  [/^57P03/, "it is starting up or shutting down"],
  [/^25006/, "it is a standby, or set to be read-only: name the primary's address"],
];

/** A schema, a table or a function that is not there. */
export function isSchemaMissing(error: unknown): boolean {
  return error instanceof postgres.PostgresError && /^(?:3F000|42P01|42883)$/.test(error.code);
}

/** Whether another host may do better: this one is no primary, or is going away. */
export function servesNoMore(error: unknown): boolean {
  return error instanceof postgres.PostgresError && (isStandby(error) || error.code.startsWith("57P0"));
}

/** "cannot set transaction read-write mode during recovery" has no code of its own. */
function isStandby({ code, message }: { code: string; message: string }): boolean {
  return code === "25006" || (code === "0A000" && /during recovery/.test(message));
}

/** Postgres' answer to a statement. An error undoes the whole of it; only a connection that is ended from the other side leaves a doubt. */
export function refusal(error: Error & { code: string; severity?: string }): PostgresFailure {
  const standby = isStandby(error) ? "25006" : error.code;
  const advice = ADVICE.find(([code]) => code.test(standby))?.[1];
  const fatal = error.severity === "FATAL" || error.severity === "PANIC";
  const text = `${error.message} (${error.code})`;
  return new PostgresFailure(advice === undefined ? text : `${advice}; it said: ${text}`, fatal, {
    cause: error,
    rejected: /^(?:22|54)/.test(error.code),
  });
}

const CONNECT_ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there: check the address, and that Postgres runs",
  ENOTFOUND: "there is no host of that name: check the address",
  EAI_AGAIN: "its name could not be looked up: check the address and the name server",
  EHOSTUNREACH: "there is no way to it: check the address and the network",
  ENETUNREACH: "there is no way to it: check the address and the network",
  ETIMEDOUT: "no answer: check the address, the network and firewalls",
  ECONNRESET: "it hung up: check the address, and that it is a Postgres",
  CONNECTION_CLOSED: "it hung up: check the address, and that it is a Postgres",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not one that we trust: name its issuer's (ca)",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not one that we trust: name its issuer's (ca)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not one that we trust: name its issuer's (ca)",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not one that we trust: name its issuer's (ca)",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  CERT_HAS_EXPIRED: "its certificate has expired",
};

/** Why no connection could be made. */
export function connectFailure(error: unknown, address: string): PostgresFailure {
  return new PostgresFailure(`${address}: ${connectAdvice(error)}`, false, { cause: error });
}

function connectAdvice(error: unknown): string {
  if (error instanceof PostgresFailure)
    return error.sent && error.cause !== undefined ? connectAdvice(error.cause) : error.message;
  if (error instanceof postgres.PostgresError) return refusal(error).message;
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = typeof inner === "object" && inner !== null && "code" in inner ? String(inner.code) : "";
  const text = inner instanceof Error ? inner.message : String(inner);
  if (/wrong version number|packet length too long|ERR_SSL/.test(`${code} ${text}`))
    return "it does not speak TLS: leave tls and sslmode out, or set up TLS there";
  return CONNECT_ADVICE[code] ?? `${text}: check the address, and that it is a Postgres`;
}

/** `writes`: it matters whether the statement arrived. */
export function storeError(error: unknown, address: string, writes: boolean): StoreError {
  if (error instanceof StoreError) return error;
  const failure =
    error instanceof PostgresFailure
      ? error
      : error instanceof postgres.PostgresError
        ? refusal(error)
        : new PostgresFailure(error instanceof Error ? error.message : String(error), true, { cause: error });
  const message = failure.message.startsWith(address) ? failure.message : `${address}: ${failure.message}`;
  const unavailable = failure.sent && writes ? "STORE_UNKNOWN" : "STORE_UNAVAILABLE";
  return new StoreError(failure.rejected ? "STORE_REJECTED" : unavailable, `postgres ${message}`, {
    cause: error,
  });
}
