/** What an etcd store is made of, and its limits. */
import type { Clock, Random } from "@keelson/kernel";
import type { Target, TlsOptions } from "./grpc/target.ts";

export interface EtcdStoreOptions {
  readonly clock: Clock;
  /** Chooses session ids, the incarnation of a new etcd, and the endpoint to begin with. */
  readonly random: Random;
  readonly endpoints: readonly { readonly host: string; readonly port: number }[];
  /** Put before every key, so that several users of one etcd stay apart. */
  readonly namespace?: string | undefined;
  readonly user?: { readonly name: string; readonly password: string } | undefined;
  /** Given, even if empty, it makes every connection one with TLS. */
  readonly tls?: TlsOptions | undefined;
}

/** One endpoint gets this long to answer before the next is tried. */
export const ATTEMPT_MS = 1_000;
/** With one endpoint there is nothing better to do than to wait; each call still has its own deadline. */
export const LONE_ATTEMPT_MS = 3_000;
/**
 * A connection with watches on which nothing was heard for this long is asked a question, and closed without an answer. A question rather than HTTP/2's ping:
 * etcd takes pings more often than every 5 s for abuse, and a member may answer them that serves no one. Longer than the default renewal period, so that nodes never need it.
 */
export const PROBE_AFTER_MS = 2_500;
export const PROBE_WITHIN_MS = 1_500;
/** A watch that etcd has not confirmed by then is given up. */
export const WATCH_CREATE_MS = 5_000;

export function targets({ endpoints, tls }: EtcdStoreOptions): Target[] {
  return endpoints.map(({ host, port }) => ({ host, port, tls }));
}
