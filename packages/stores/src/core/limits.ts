/** What a store refuses with STORE_REJECTED before it looks at any state: broken limits and malformed requests. */
import { STORE_LIMITS, StoreError, type Commit } from "@keelson/kernel";

/** Limits of these stores beyond the contract's. They bound memory; a fleet of the size we aim at stays far below. */
export const CORE_LIMITS = {
  /** A day: a longer lease is a mistake in a unit. */
  ttlMsMax: 24 * 60 * 60 * 1000,
  sessionsMax: 100_000,
  keysMax: 2_000_000,
} as const;

export function checkCommit(commit: Commit): void {
  const { guards, writes } = commit;
  if (guards.length > STORE_LIMITS.operationsMax) throw tooMany("guards", guards.length);
  if (writes.length > STORE_LIMITS.operationsMax) throw tooMany("writes", writes.length);
  for (const guard of guards) {
    checkKey(guard.key);
    if (!Number.isSafeInteger(guard.revision) || guard.revision < 0)
      throw rejected(
        `guard on "${guard.key}" names revision ${guard.revision}: it must be a whole number, 0 for absent`,
      );
  }
  for (const write of writes) {
    checkKey(write.key);
    if (write.kind === "put") checkValue(write.key, write.value);
  }
  if (writes.length > 1 && new Set(writes.map((write) => write.key)).size < writes.length)
    throw rejected("a commit writes a key twice: give each key at most one write");
}

export function checkRange(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > STORE_LIMITS.rangeLimitMax)
    throw rejected(`range limit ${limit}: it must be 1 to ${STORE_LIMITS.rangeLimitMax}`);
}

export function checkTtl(ttlMs: number): void {
  if (!(ttlMs > 0 && ttlMs <= CORE_LIMITS.ttlMsMax))
    throw rejected(`session TTL ${ttlMs} ms: it must be above 0 and at most ${CORE_LIMITS.ttlMsMax} ms`);
}

export function checkSessions(sessions: readonly string[]): void {
  if (sessions.length > STORE_LIMITS.operationsMax) throw tooMany("sessions in one renewal", sessions.length);
}

export function rejected(message: string): StoreError {
  return new StoreError("STORE_REJECTED", message);
}

function checkKey(key: string): void {
  if (key === "") throw rejected("a key is empty: it must have 1 byte or more");
  checkText(key, "key", key);
  if (longerThan(key, STORE_LIMITS.keyBytesMax))
    throw rejected(`a key has more than ${STORE_LIMITS.keyBytesMax} bytes: "${key.slice(0, 60)}…"`);
}

function checkValue(key: string, value: string): void {
  checkText(key, "value", value);
  if (longerThan(value, STORE_LIMITS.valueBytesMax))
    throw rejected(`the value of "${key}" has more than ${STORE_LIMITS.valueBytesMax} bytes`);
}

/** Half of a surrogate pair has no UTF-8 form: a store would keep another text than it was given. */
function checkText(key: string, what: string, text: string): void {
  if (!(text as string & { isWellFormed(): boolean }).isWellFormed())
    throw rejected(`the ${what} of "${key}" is not well-formed Unicode`);
}

/** A code unit takes at most three bytes, so most texts need no counting. */
function longerThan(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax;
}

function tooMany(what: string, count: number): StoreError {
  return rejected(`${count} ${what}: at most ${STORE_LIMITS.operationsMax} are allowed`);
}
