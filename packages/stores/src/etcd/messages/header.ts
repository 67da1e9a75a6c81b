/** What every reply of etcd begins with. */
import type { Revision } from "@keelson/kernel";
import type { ProtoReader } from "./protobuf.ts";

export interface Header {
  /** Derived from the cluster's first configuration: a cluster made anew with the same one has the same id. */
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: Revision;
}

export const NO_HEADER: Header = { clusterId: "", memberId: "", revision: 0 };

export function readHeader(reader: ProtoReader): Header {
  let { clusterId, memberId, revision } = NO_HEADER;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) clusterId = reader.id();
    else if (field === 2) memberId = reader.id();
    else if (field === 3) revision = reader.number();
    else reader.skip();
  }
  return { clusterId, memberId, revision };
}
