/** What went wrong with Redis, whether the command may have been carried out, and what to do about it, in one line. */
import { StoreError } from "@keelson/kernel";

export class RedisFailure extends Error {
  override readonly name = "RedisFailure";
  /** The command may have reached Redis. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean, options?: { cause?: unknown }) {
    super(message, options);
    this.sent = sent;
  }
}

/** The first word of Redis' own errors, and what a person can do. With each of these the command was not carried out. */
const REFUSALS: Readonly<Record<string, string>> = {
  NOAUTH: "it asks for a password: put it into the URL, redis://:password@host",
  WRONGPASS: "the user name or the password is wrong",
  NOPERM: "the user may not do this: give it all commands on the namespace's keys, and INFO",
  READONLY: "it is a replica: name the primary's address",
  MASTERDOWN: "it is a replica without its primary: name the primary's address",
  LOADING: "it still loads its data",
  OOM: "it is out of memory: raise maxmemory",
  MISCONF: "it cannot save to its disk: see its log",
  NOREPLICAS: "it has fewer replicas than min-replicas-to-write asks for",
  BUSY: "a script of somebody else keeps it busy",
  MOVED: "it is a node of a cluster that holds other keys: name the node that holds the namespace's",
  ASK: "it is a node of a cluster that is being moved",
  CLUSTERDOWN: "its cluster is down",
  STALE: "it was replaced while we were connected",
  ANEW: "it lost a part of the data again and again: see its eviction policy",
};

/** After these the next call is better made on another connection. */
const ELSEWHERE = new Set(["READONLY", "MASTERDOWN", "LOADING", "STALE", "MOVED", "CLUSTERDOWN"]);

/** The first word of an error that Redis answered with. */
export function errorWord(error: unknown): string {
  return error instanceof Error ? (/^[A-Z]+/.exec(error.message)?.[0] ?? "") : "";
}

/** A script that failed half-way names itself; whatever Redis refuses before it runs does not. */
function wasRefused(error: unknown): boolean {
  const word = errorWord(error);
  return word === "NOSCRIPT" || (word in REFUSALS && !/ script: /.test((error as Error).message));
}

export function servesNoMore(error: unknown): boolean {
  return ELSEWHERE.has(errorWord(error));
}

/** Redis' answer as a failure of a command that it was sent. */
export function refusal(error: unknown): RedisFailure {
  const refused = wasRefused(error);
  const advice = refused ? REFUSALS[errorWord(error)] : undefined;
  const text = error instanceof Error ? error.message : String(error);
  return new RedisFailure(advice ?? text, !refused, { cause: error });
}

/** Nothing was heard while a connection was made. A plain Redis says nothing to a client that begins with TLS. */
export function noAnswer(withinMs: number, tls: boolean): RedisFailure {
  const check = tls
    ? "the address, the network, firewalls, and that it speaks TLS there"
    : "the address, the network and firewalls";
  return new RedisFailure(`no answer within ${Math.round(withinMs)} ms: check ${check}`, false);
}

const CONNECT_ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there: check the address, and that Redis runs",
  ENOTFOUND: "there is no host of that name: check the address",
  EAI_AGAIN: "its name could not be looked up: check the address and the name server",
  EHOSTUNREACH: "there is no way to it: check the address and the network",
  ENETUNREACH: "there is no way to it: check the address and the network",
  ETIMEDOUT: "no answer: check the address, the network and firewalls",
  ECONNRESET: "it hung up: check that it is a Redis, and whether it wants TLS (rediss://)",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not one that we trust: name its issuer's (tls-ca)",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not one that we trust: name its issuer's (tls-ca)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not one that we trust: name its issuer's (tls-ca)",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not one that we trust: name its issuer's (tls-ca)",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  CERT_HAS_EXPIRED: "its certificate has expired",
};

/** Why no connection could be made. */
export function connectFailure(error: unknown): RedisFailure {
  const word = errorWord(error);
  const code = codeOf(error);
  const advice =
    (word in REFUSALS ? REFUSALS[word] : undefined) ??
    CONNECT_ADVICE[code] ??
    (/wrong version number|packet length too long|ERR_SSL/.test(`${code} ${String(error)}`)
      ? "it does not speak TLS there: write redis:// instead of rediss://, or name its TLS port"
      : undefined) ??
    (error instanceof RedisFailure ? error.message : undefined) ??
    `${error instanceof Error ? error.message : String(error)}: check the address, and that it is a Redis`;
  return new RedisFailure(advice, false, { cause: error });
}

/** With several addresses of one name Node gives one error with all of theirs inside. */
function codeOf(error: unknown): string {
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return typeof inner === "object" && inner !== null && "code" in inner ? String(inner.code) : "";
}

/** `writes`: it matters whether the command arrived. */
export function storeError(error: unknown, address: string, writes: boolean): StoreError {
  if (error instanceof StoreError) return error;
  const failure = error instanceof RedisFailure ? error : refusal(error);
  const code = failure.sent && writes ? "STORE_UNKNOWN" : "STORE_UNAVAILABLE";
  return new StoreError(code, `redis ${address}: ${failure.message}`, { cause: error });
}
