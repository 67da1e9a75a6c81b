/** etcd's messages about itself: who a client is, and how a member is. */
import { NO_HEADER, readHeader, type Header } from "./header.ts";
import { ProtoReader, ProtoWriter } from "./protobuf.ts";

export interface MemberStatus {
  readonly header: Header;
  readonly version: string;
  readonly databaseBytes: number;
  readonly databaseBytesInUse: number;
  /** The member that leads the cluster; zeros when there is none. */
  readonly leaderId: string;
  /** What is wrong in etcd's own words, such as an alarm. */
  readonly errors: readonly string[];
}

const writer = new ProtoWriter();

export function encodeAuthenticate(user: string, password: string): Buffer {
  writer.text(1, user);
  writer.text(2, password);
  return writer.finish();
}

export function decodeToken(message: Buffer): string {
  const reader = new ProtoReader(message);
  let token = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) token = reader.text();
    else reader.skip();
  }
  return token;
}

export function decodeStatus(message: Buffer): MemberStatus {
  const reader = new ProtoReader(message);
  let header = NO_HEADER;
  let version = "";
  let databaseBytes = 0;
  let databaseBytesInUse = 0;
  let leaderId = "0000000000000000";
  const errors: string[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 2) version = reader.text();
    else if (field === 3) databaseBytes = reader.number();
    else if (field === 4) leaderId = reader.id();
    else if (field === 8) errors.push(reader.text());
    else if (field === 9) databaseBytesInUse = reader.number();
    else reader.skip();
  }
  return { header, version, databaseBytes, databaseBytesInUse, leaderId, errors };
}
