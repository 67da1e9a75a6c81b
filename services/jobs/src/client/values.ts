/** What users put into jobs and get out of them: any plain data, as msgpack, which is what other clients of this protocol send too. The engine sees only bytes. */
import { pack, unpack } from "msgpackr";

export function encodeValue(value: unknown): Uint8Array {
  return pack(value);
}

/** Bytes that are no msgpack, from a client that sends others, are given as they are. */
export function decodeValue(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return unpack(bytes);
  } catch {
    return bytes;
  }
}
