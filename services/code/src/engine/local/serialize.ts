/**
 * An index as a stream of frames, for a new holder or a disk: a description, the branch masks, then every segment and its symbols as they lie in memory. Each frame
 * has a magic number, its length and a checksum; segments have their own besides. A reader that does not know the version refuses it.
 */
import { crc32 } from "node:zlib";
import { breath } from "./breath.ts";
import type { MemoryIndex } from "./memory-index.ts";

export const INDEX_VERSION = 3;
export const FRAME_MAGIC = 0x3158_444b;
export const FRAME_HEADER_BYTES = 12;
export const FRAME_BYTES_MAX = 1_048_576;

export interface Description {
  readonly version: number;
  readonly branches: readonly string[];
  readonly masksBytes: number;
  readonly segments: readonly { readonly bytes: number; readonly symbolsBytes: number }[];
}

export async function* serializeIndex(index: MemoryIndex): AsyncGenerator<Uint8Array> {
  const masks = index.masks.words;
  const description: Description = {
    version: INDEX_VERSION,
    branches: index.branches,
    masksBytes: masks.byteLength,
    segments: index.parts.map(({ segment, symbols }) => ({
      bytes: segment.place.bytes,
      symbolsBytes: symbols?.place.bytes ?? 0,
    })),
  };
  yield frame(Buffer.from(JSON.stringify(description)));
  yield* frames(new Uint8Array(masks.buffer, masks.byteOffset, masks.byteLength));
  for (const { segment, symbols } of index.parts) {
    yield* frames(index.ports.arenas.bytes(segment.place));
    if (symbols !== undefined) yield* frames(index.ports.arenas.bytes(symbols.place));
  }
}

async function* frames(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += FRAME_BYTES_MAX) {
    yield frame(bytes.slice(at, at + FRAME_BYTES_MAX));
    await breath();
  }
}

function frame(payload: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  out.writeUInt32LE(FRAME_MAGIC, 0);
  out.writeUInt32LE(payload.length, 4);
  out.writeUInt32LE(crc32(payload), 8);
  out.set(payload, FRAME_HEADER_BYTES);
  return out;
}
