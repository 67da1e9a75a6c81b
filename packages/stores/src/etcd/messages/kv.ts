/** etcd's messages about keys: ranges and transactions, in the forms that the store uses. Keys in requests are bytes, because ranges end between keys. */
import type { Revision } from "@keelson/kernel";
import { NO_HEADER, readHeader, type Header } from "./header.ts";
import { ProtoReader, ProtoWriter } from "./protobuf.ts";

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly modRevision: Revision;
  /** The lease it is bound to, as 16 hexadecimal digits; undefined when none. */
  readonly lease: string | undefined;
}

interface RangeQuery {
  readonly key: Buffer;
  /** Exclusive; without it, only `key` itself. */
  readonly end?: Buffer;
  readonly limit?: number;
  readonly keysOnly?: boolean;
}

interface RangeResult {
  readonly entries: readonly KeyValue[];
  readonly more: boolean;
}

/** The key's last write has this revision; 0 means that it is absent. */
interface RevisionCompare {
  readonly kind: "revision";
  readonly key: string;
  readonly revision: Revision;
}

interface ValueCompare {
  readonly kind: "value";
  readonly key: string;
  readonly value: string;
}

export type Operation =
  | { readonly kind: "range"; readonly query: RangeQuery }
  | {
      readonly kind: "put";
      readonly key: string;
      readonly value: string;
      readonly lease?: string | undefined;
    }
  | { readonly kind: "delete"; readonly key: string };

export interface Transaction {
  readonly compares: readonly (RevisionCompare | ValueCompare)[];
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
}

export interface TransactionResult {
  readonly header: Header;
  readonly succeeded: boolean;
  /** One for each operation of the branch that ran; only ranges say something. */
  readonly results: readonly (RangeResult | undefined)[];
}

const EQUAL = 0;
const TARGET_MOD = 2;
const TARGET_VALUE = 3;
const NO_LEASE = "0000000000000000";

const writer = new ProtoWriter();

export function encodeTransaction({ compares, success, failure }: Transaction): Buffer {
  for (const compare of compares) {
    writer.message(1, () => {
      writer.number(1, EQUAL);
      writer.number(2, compare.kind === "revision" ? TARGET_MOD : TARGET_VALUE);
      writer.text(3, compare.key);
      if (compare.kind === "revision") writer.chosenNumber(6, compare.revision);
      else writer.text(7, compare.value);
    });
  }
  for (const operation of success) writer.message(2, () => writeOperation(operation));
  for (const operation of failure) writer.message(3, () => writeOperation(operation));
  return writer.finish();
}

function writeOperation(operation: Operation): void {
  switch (operation.kind) {
    case "range":
      writer.message(1, () => writeRange(operation.query));
      break;
    case "put":
      writer.message(2, () => {
        writer.text(1, operation.key);
        writer.text(2, operation.value);
        if (operation.lease !== undefined) writer.id(3, operation.lease);
      });
      break;
    case "delete":
      writer.message(3, () => writer.text(1, operation.key));
      break;
  }
}

function writeRange({ key, end, limit, keysOnly }: RangeQuery): void {
  writer.bytes(1, key);
  if (end !== undefined) writer.bytes(2, end);
  writer.number(3, limit ?? 0);
  writer.bool(8, keysOnly === true);
}

export function decodeTransactionResult(message: Buffer): TransactionResult {
  const reader = new ProtoReader(message);
  let header = NO_HEADER;
  let succeeded = false;
  const results: (RangeResult | undefined)[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 2) succeeded = reader.bool();
    else if (field === 3) results.push(reader.message(readResult));
    else reader.skip();
  }
  return { header, succeeded, results };
}

function readResult(reader: ProtoReader): RangeResult | undefined {
  let result: RangeResult | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) result = reader.message(readRangeResult);
    else reader.skip();
  }
  return result;
}

function readRangeResult(reader: ProtoReader): RangeResult {
  const entries: KeyValue[] = [];
  let more = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) entries.push(reader.message(readKeyValue));
    else if (field === 3) more = reader.bool();
    else reader.skip();
  }
  return { entries, more };
}

export function readKeyValue(reader: ProtoReader): KeyValue {
  let key = "";
  let value = "";
  let modRevision = 0;
  let lease: string | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = reader.text();
    else if (field === 3) modRevision = reader.number();
    else if (field === 5) value = reader.text();
    else if (field === 6) {
      const id = reader.id();
      lease = id === NO_LEASE ? undefined : id;
    } else reader.skip();
  }
  return { key, value, modRevision, lease };
}
