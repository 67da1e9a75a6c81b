/**
 * What users put into jobs, between JSON and msgpack. Other clients put in what JSON has no word for: it is shown in a way that JSON has. What is nested so deeply
 * that neither could walk through it is refused on the way in, and shown as bytes on the way out.
 */
import { decodeValue, encodeValue } from "../client/values.ts";
import { ShardFailure } from "../shard/shard-failure.ts";

/** More than anybody means; what walks through values needs a frame of the stack for each. */
const DEPTH_MAX = 500;

export function bytesOfJson(value: unknown): Uint8Array {
  if (isDeeperThan(value, DEPTH_MAX))
    throw new ShardFailure("INVALID", `a payload is nested at most ${DEPTH_MAX} levels deep`);
  return encodeValue(value);
}

export function jsonOf(bytes: Uint8Array): unknown {
  const value = decodeValue(bytes);
  return isDeeperThan(value, DEPTH_MAX) ? base64(bytes) : plain(value);
}

/** The same for what is not kept as bytes: progress, and lines of a dump. */
export function jsonOfValue(value: unknown): unknown {
  return isDeeperThan(value, DEPTH_MAX) ? null : plain(value);
}

function base64(bytes: Uint8Array): object {
  return { base64: Buffer.from(bytes).toString("base64") };
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return false;
  if (levels === 0) return true;
  const inner = value instanceof Map || value instanceof Set ? value.values() : Object.values(value);
  for (const each of inner) if (isDeeperThan(each, levels - 1)) return true;
  return false;
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return base64(value);
  if (value instanceof Map)
    return Object.fromEntries(Array.from(value, ([key, each]) => [String(key), plain(each)]));
  if (value instanceof Set) return Array.from(value, plain);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}
