/** The keys under which a finished job is found, and their order. All of a tenant's are together, and newer ones come first. */
import { decodeBody, isPlainBody } from "../../engine/codec/body.ts";
import { ByteReader, fromBinary } from "../../engine/codec/byte-reader.ts";
import { readStoredJob, type StoredJob } from "../../engine/codec/stored-job.ts";
import type { Entry } from "./section.ts";

const TIME_DIGITS = 16;
const TIME_MAX = 10 ** TIME_DIGITS - 1;

export function jobEntryKey(tenant: string, id: string): string {
  return `${tenant}\0${id}`;
}

/** Sorts descending. */
function inverse(ms: number): string {
  return String(TIME_MAX - ms).padStart(TIME_DIGITS, "0");
}

export function statusPrefix(tenant: string, status: string): string {
  return `${tenant}\0${status}\0`;
}

export function metadataPrefix(tenant: string, key: string, value: string): string {
  return `${tenant}\0${key}\0${value}\0`;
}

export function timeSuffix(statusAtMs: number, id: string): string {
  return `${inverse(statusAtMs)}\0${id}`;
}

/** Which job an index entry speaks of, given the prefix it was found under. */
export function readSuffix(
  key: string,
  prefixLength: number,
): { readonly statusAtMs: number; readonly id: string } {
  const at = prefixLength + TIME_DIGITS;
  return { statusAtMs: TIME_MAX - Number(key.slice(prefixLength, at)), id: key.slice(at + 1) };
}

/** What keys are made of. */
type Ended = Pick<StoredJob, "id" | "status" | "statusAtMs" | "body">;

/** When the job may be forgotten. */
export function expiryOf({ statusAtMs, body }: Ended, retentionMs: number): number {
  const own = isPlainBody(body) ? undefined : decodeBody(body).retentionMs;
  return statusAtMs + (own ?? retentionMs);
}

export function statusKey(tenant: string, { id, status, statusAtMs }: Ended): string {
  return statusPrefix(tenant, status) + timeSuffix(statusAtMs, id);
}

export function metadataKeys(tenant: string, { id, statusAtMs, body }: Ended): string[] {
  const metadata = isPlainBody(body) ? undefined : decodeBody(body).metadata;
  if (metadata === undefined) return [];
  const suffix = timeSuffix(statusAtMs, id);
  return Object.entries(metadata).map(([key, value]) => metadataPrefix(tenant, key, value) + suffix);
}

export function readJobEntry({ value }: Entry): StoredJob {
  return readStoredJob(new ByteReader(fromBinary(value)));
}

/** The job that an index entry speaks of: its tenant is the first part of the key, its id the last. */
export function indexedJob(key: string): string {
  return jobEntryKey(key.slice(0, key.indexOf("\0")), key.slice(key.lastIndexOf("\0") + 1));
}
