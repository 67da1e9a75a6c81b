/** etcd's messages on a watch stream. One stream carries many watches, told apart by ids that the client chooses. */
import type { Revision } from "@keelson/kernel";
import { NO_HEADER, readHeader, type Header } from "./header.ts";
import { readKeyValue, type KeyValue } from "./kv.ts";
import { ProtoReader, ProtoWriter } from "./protobuf.ts";

export interface WatchEvent {
  readonly deleted: boolean;
  /** Of a deletion: the key and the revision that deleted it. */
  readonly entry: KeyValue;
}

export interface WatchReply {
  readonly header: Header;
  /** −1 in the answer to a progress request, which is for the whole stream. */
  readonly watchId: number;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Not 0 when the watch asked for revisions that are gone: the oldest that is left. */
  readonly compactRevision: Revision;
  readonly cancelReason: string;
  readonly events: readonly WatchEvent[];
}

const DELETED = 1;

const writer = new ProtoWriter();

/** All changes of keys in [key, end) from the given revision on. */
export function encodeWatchCreate(watchId: number, key: Buffer, end: Buffer, from: Revision): Buffer {
  writer.message(1, () => {
    writer.bytes(1, key);
    writer.bytes(2, end);
    writer.number(3, from);
    writer.number(7, watchId);
  });
  return writer.finish();
}

export function encodeWatchCancel(watchId: number): Buffer {
  writer.message(2, () => writer.number(1, watchId));
  return writer.finish();
}

/** Asks how far the stream is. */
export function encodeProgress(): Buffer {
  writer.message(3, () => {});
  return writer.finish();
}

export function decodeWatchReply(message: Buffer): WatchReply {
  const reader = new ProtoReader(message);
  let header = NO_HEADER;
  let watchId = 0;
  let created = false;
  let canceled = false;
  let compactRevision = 0;
  let cancelReason = "";
  const events: WatchEvent[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 2) watchId = reader.number();
    else if (field === 3) created = reader.bool();
    else if (field === 4) canceled = reader.bool();
    else if (field === 5) compactRevision = reader.number();
    else if (field === 6) cancelReason = reader.text();
    else if (field === 11) events.push(reader.message(readEvent));
    else reader.skip();
  }
  return { header, watchId, created, canceled, compactRevision, cancelReason, events };
}

function readEvent(reader: ProtoReader): WatchEvent {
  let deleted = false;
  let entry: KeyValue = { key: "", value: "", modRevision: 0, lease: undefined };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) deleted = reader.number() === DELETED;
    else if (field === 2) entry = reader.message(readKeyValue);
    else reader.skip();
  }
  return { deleted, entry };
}
