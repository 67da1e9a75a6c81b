/**
 * What travels between a RemoteStore and a StoreServer: the names of the calls, the shape of what is asked, and how errors keep their
 * meaning on the way. Answers are the contract's own types as plain data.
 */
import {
  StoreError,
  type ChangeBatch,
  type Commit,
  type Guard,
  type StoreErrorCode,
  type Write,
} from "@keelson/kernel";
import { WireFailure } from "@keelson/wire";

export const METHODS = {
  range: "store.range",
  commit: "store.commit",
  openSession: "store.openSession",
  renew: "store.renew",
  revoke: "store.revoke",
  watch: "store.watch",
} as const;

/** What a watch's stream carries: batches, several at a time when it is behind, and at last why it ends. */
export type WatchItem =
  | { readonly batches: readonly ChangeBatch[] }
  | { readonly relist: string }
  | { readonly closed: string };

export interface RangeRequest {
  readonly prefix: string;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

export interface CommitRequest extends Commit {
  readonly incarnation: string;
}

export interface WatchRequest {
  readonly prefix: string;
  readonly after: number;
}

const CODES: readonly string[] = [
  "STORE_UNAVAILABLE",
  "STORE_UNKNOWN",
  "STORE_REJECTED",
] satisfies StoreErrorCode[];

/** A store's error as one that travels; others are the server's own trouble. */
export function failureOf(error: unknown): unknown {
  return error instanceof StoreError ? new WireFailure(error.code, error.message, { cause: error }) : error;
}

/** The store's error that travelled, if it is one. */
export function storeErrorOf(failure: WireFailure): StoreError | undefined {
  if (!CODES.includes(failure.code)) return undefined;
  return new StoreError(failure.code as StoreErrorCode, failure.message, { cause: failure });
}

export function readRange(body: unknown): { prefix: string; limit?: number; after?: string } {
  const { prefix, limit, after } = fields(body);
  return {
    prefix: text("prefix", prefix),
    ...(limit === undefined ? {} : { limit: number("limit", limit) }),
    ...(after === undefined ? {} : { after: text("after", after) }),
  };
}

export function readCommit(body: unknown): CommitRequest {
  const { guards, writes, incarnation } = fields(body);
  return {
    guards: list("guards", guards).map(readGuard),
    writes: list("writes", writes).map(readWrite),
    incarnation: text("incarnation", incarnation),
  };
}

export function readTtl(body: unknown): number {
  return number("ttlMs", fields(body)["ttlMs"]);
}

export function readSessions(body: unknown): string[] {
  return list("sessions", fields(body)["sessions"]).map((session) => text("session", session));
}

export function readSession(body: unknown): string {
  return text("session", fields(body)["session"]);
}

export function readWatch(body: unknown): WatchRequest {
  const { prefix, after } = fields(body);
  return { prefix: text("prefix", prefix), after: number("after", after) };
}

function readGuard(body: unknown): Guard {
  const { key, revision } = fields(body);
  return { key: text("key", key), revision: number("revision", revision) };
}

function readWrite(body: unknown): Write {
  const { kind, key, value, session } = fields(body);
  if (kind === "delete") return { kind, key: text("key", key) };
  if (kind !== "put") throw malformed("kind", "put or delete");
  const write = { kind, key: text("key", key), value: text("value", value) } as const;
  return session === undefined ? write : { ...write, session: text("session", session) };
}

function fields(body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw malformed("body", "an object");
  return body as Record<string, unknown>;
}

function text(name: string, value: unknown): string {
  if (typeof value !== "string") throw malformed(name, "a text");
  return value;
}

function number(name: string, value: unknown): number {
  if (typeof value !== "number") throw malformed(name, "a number");
  return value;
}

function list(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw malformed(name, "a list");
  return value;
}

function malformed(name: string, expected: string): WireFailure {
  return new WireFailure("BAD_REQUEST", `${name} must be ${expected}`);
}
