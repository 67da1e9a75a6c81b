/** The keys of a namespace in Redis. The braces keep them on one node of a cluster; their names are what an operator types into redis-cli. */

const PARTS = [
  /** Hash: format, run, incarnation, revision, and counts of what the other keys should hold. */
  "meta",
  /** Hash: key → `<revision> <session or -> <value>`. */
  "entries",
  /** Sorted set of all keys, in order. */
  "index",
  /** Sorted set of `<session> <key>`, for every key that is bound to a session. */
  "bound",
  /** Sorted set: session → deadline, in milliseconds of the server's clock. */
  "sessions",
  /** Hash: session → TTL in milliseconds. */
  "ttls",
  /** Stream: an entry `<revision>-0` for every revision. */
  "log",
] as const;

export function layout(namespace: string): { readonly keys: readonly string[]; readonly log: string } {
  const keys = PARTS.map((part) => `{${namespace}}:${part}`);
  return { keys, log: `{${namespace}}:log` };
}
