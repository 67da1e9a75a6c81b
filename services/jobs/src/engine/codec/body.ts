/**
 * A job's content as one string of bytes: everything that the caller said but tenant and id. One content has one encoding, so equal strings are equal content.
 * It is what memory keeps of a job's content, because a short string costs a tenth of the objects it stands for; it is decoded when a worker gets the job.
 */
import type { Dedupe, JobSpec, Limit, RateLimit, RetryPolicy } from "../model/job-spec.ts";
import { PRIORITY_DEFAULT } from "../model/job-spec.ts";
import { ByteReader, fromBinary } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";

const VERSION = 1;
const HAS = {
  start: 1,
  retry: 2,
  limits: 4,
  metadata: 8,
  timeout: 16,
  retention: 32,
  after: 64,
  runOnFailure: 128,
  dedupe: 256,
} as const;

const scratch = new ByteWriter(64 * 1024);

export function encodeBody(spec: Omit<JobSpec, "id" | "tenant">): string {
  scratch.clear();
  writeBody(scratch, spec);
  return scratch.toBinary();
}

export function writeBody(out: ByteWriter, spec: Omit<JobSpec, "id" | "tenant">): void {
  const { startAtMs, retry, limits = [], metadata, timeoutMs, retentionMs, after = [], dedupe } = spec;
  const pairs = metadata === undefined ? [] : Object.keys(metadata).sort();
  out.byte(VERSION);
  out.text(spec.group);
  out.byte(spec.priority ?? PRIORITY_DEFAULT);
  out.whole(
    (startAtMs === undefined ? 0 : HAS.start) |
      (retry === undefined ? 0 : HAS.retry) |
      (limits.length === 0 ? 0 : HAS.limits) |
      (pairs.length === 0 ? 0 : HAS.metadata) |
      (timeoutMs === undefined ? 0 : HAS.timeout) |
      (retentionMs === undefined ? 0 : HAS.retention) |
      (after.length === 0 ? 0 : HAS.after) |
      (spec.onDependencyFailure === "run" ? HAS.runOnFailure : 0) |
      (dedupe === undefined ? 0 : HAS.dedupe),
  );
  if (startAtMs !== undefined) out.whole(startAtMs);
  if (retry !== undefined) writeRetry(out, retry);
  if (limits.length > 0) writeList(out, limits, writeLimit);
  if (pairs.length > 0) writePairs(out, metadata ?? {}, pairs);
  if (timeoutMs !== undefined) out.whole(timeoutMs);
  if (retentionMs !== undefined) out.whole(retentionMs);
  if (after.length > 0) writeList(out, after, (to, id) => to.text(id));
  if (dedupe !== undefined) writeDedupe(out, dedupe);
  out.bytes(spec.payload);
}

/** Whether the content is a group, a priority and a payload, and nothing else: then there is no need to decode it to run the job. */
export function isPlainBody(body: string): boolean {
  const groupBytes = body.charCodeAt(1);
  return body.charCodeAt(0) === VERSION && groupBytes < 0x80 && body.charCodeAt(groupBytes + 3) === 0;
}

/** Content but the payload. */
export type Content = Omit<JobSpec, "id" | "tenant" | "payload"> & { readonly priority: number };

/** Content, by name. */
export type Body = Content & Pick<JobSpec, "payload">;

export function decodeBody(body: string): Body {
  return readBody(new ByteReader(fromBinary(body)));
}

/** What is left in the reader is a body; its payload stays where it lies. `likelyGroup` saves making the same text again. */
export function readBody(reader: ByteReader, likelyGroup = ""): Body {
  const version = reader.byte();
  if (version !== VERSION) throw new RangeError(`a job's content has the unknown version ${version}`);
  const group = reader.textLike(likelyGroup);
  const priority = reader.byte();
  const has = reader.whole();
  if (has === 0) return { group, priority, payload: reader.rest() };
  return {
    group,
    priority,
    startAtMs: has & HAS.start ? reader.whole() : undefined,
    retry: has & HAS.retry ? readRetry(reader) : undefined,
    limits: has & HAS.limits ? readList(reader, readLimit) : undefined,
    metadata: has & HAS.metadata ? readPairs(reader) : undefined,
    timeoutMs: has & HAS.timeout ? reader.whole() : undefined,
    retentionMs: has & HAS.retention ? reader.whole() : undefined,
    after: has & HAS.after ? readList(reader, (from) => from.text()) : undefined,
    onDependencyFailure: has & HAS.runOnFailure ? "run" : undefined,
    dedupe: has & HAS.dedupe ? readDedupe(reader) : undefined,
    payload: reader.rest(),
  };
}

function writeRetry(out: ByteWriter, retry: RetryPolicy): void {
  out.whole(retry.retries);
  out.whole(retry.initialMs);
  out.whole(retry.maxMs);
  out.double(retry.factor);
  out.byte(retry.jitter ? 1 : 0);
}

function readRetry(from: ByteReader): RetryPolicy {
  return {
    retries: from.whole(),
    initialMs: from.whole(),
    maxMs: from.whole(),
    factor: from.double(),
    jitter: from.byte() === 1,
  };
}

function writeLimit(out: ByteWriter, limit: Limit): void {
  switch (limit.kind) {
    case "concurrency":
      out.byte(1);
      out.text(limit.key);
      out.whole(limit.max);
      break;
    case "floating":
      out.byte(2);
      out.text(limit.key);
      out.whole(limit.defaultMax);
      out.whole(limit.refreshMs);
      writePairs(out, limit.metadata, Object.keys(limit.metadata).sort());
      break;
    case "rate":
      out.byte(3);
      writeRate(out, limit);
      break;
  }
}

function writeRate(out: ByteWriter, limit: RateLimit): void {
  out.text(limit.name);
  out.text(limit.uniqueKey);
  out.whole(limit.limit);
  out.whole(limit.durationMs);
  out.whole(limit.hits);
  out.whole(limit.algorithm);
  out.whole(limit.behavior);
  out.whole(limit.burst);
  out.whole(limit.backoff.initialMs);
  out.whole(limit.backoff.maxMs);
  out.double(limit.backoff.factor);
}

function readLimit(from: ByteReader): Limit {
  const kind = from.byte();
  if (kind === 1) return { kind: "concurrency", key: from.text(), max: from.whole() };
  if (kind === 2)
    return {
      kind: "floating",
      key: from.text(),
      defaultMax: from.whole(),
      refreshMs: from.whole(),
      metadata: readPairs(from),
    };
  if (kind !== 3) throw new RangeError(`a job's content has a limit of the unknown kind ${kind}`);
  return {
    kind: "rate",
    name: from.text(),
    uniqueKey: from.text(),
    limit: from.whole(),
    durationMs: from.whole(),
    hits: from.whole(),
    algorithm: from.whole(),
    behavior: from.whole(),
    burst: from.whole(),
    backoff: { initialMs: from.whole(), maxMs: from.whole(), factor: from.double() },
  };
}

function writeDedupe(out: ByteWriter, dedupe: Dedupe): void {
  out.text(dedupe.key);
  switch (dedupe.mode) {
    case "unique":
      out.byte(1);
      break;
    case "debounce":
      out.byte(2);
      out.whole(dedupe.waitMs);
      out.whole(dedupe.maxWaitMs);
      break;
    case "throttle":
      out.byte(3);
      out.whole(dedupe.windowMs);
      break;
  }
}

function readDedupe(from: ByteReader): Dedupe {
  const key = from.text();
  const mode = from.byte();
  if (mode === 1) return { key, mode: "unique" };
  if (mode === 2) return { key, mode: "debounce", waitMs: from.whole(), maxWaitMs: from.whole() };
  return { key, mode: "throttle", windowMs: from.whole() };
}

export function writePairs(
  out: ByteWriter,
  pairs: Readonly<Record<string, string>>,
  keys: readonly string[],
): void {
  out.whole(keys.length);
  for (const key of keys) {
    out.text(key);
    out.text(pairs[key] as string);
  }
}

export function readPairs(from: ByteReader): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let left = from.whole(); left > 0; left--) {
    const key = from.text();
    pairs[key] = from.text();
  }
  return pairs;
}

export function writeList<T>(
  out: ByteWriter,
  items: readonly T[],
  write: (out: ByteWriter, item: T) => void,
): void {
  out.whole(items.length);
  for (const item of items) write(out, item);
}

export function readList<T>(from: ByteReader, read: (from: ByteReader) => T): T[] {
  const items: T[] = [];
  for (let left = from.whole(); left > 0; left--) items.push(read(from));
  return items;
}
