/** etcd's messages about leases. A lease id is 64 bits, written as hexadecimal digits. */
import { NO_HEADER, readHeader, type Header } from "./header.ts";
import { ProtoReader, ProtoWriter } from "./protobuf.ts";

export interface LeaseReply {
  readonly header: Header;
  readonly lease: string;
  /** Seconds; a renewal of a lease that is gone says 0, a question about one −1. */
  readonly ttlSeconds: number;
  /** What it was granted with, in an answer about a living lease; 0 otherwise. */
  readonly grantedSeconds: number;
}

const writer = new ProtoWriter();

export function encodeGrant(lease: string, ttlSeconds: number): Buffer {
  writer.number(1, ttlSeconds);
  writer.id(2, lease);
  return writer.finish();
}

/** A renewal, a revocation and a question about a lease all name it in the same way. */
export function encodeLease(lease: string): Buffer {
  writer.id(1, lease);
  return writer.finish();
}

/** The replies to a grant, a renewal, a question and (with nothing but the header) a revocation. */
export function decodeLeaseReply(message: Buffer): LeaseReply {
  const reader = new ProtoReader(message);
  let header = NO_HEADER;
  let lease = "";
  let ttlSeconds = 0;
  let grantedSeconds = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 2) lease = reader.id();
    else if (field === 3) ttlSeconds = reader.number();
    else if (field === 4) grantedSeconds = reader.number();
    else reader.skip();
  }
  return { header, lease, ttlSeconds, grantedSeconds };
}
