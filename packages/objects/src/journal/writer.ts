import type { Random } from "@keelson/kernel";
import { WRITER_BYTES } from "./format/segment-header.ts";

/** A name for one opening of a journal that no other opening has. */
export function drawWriter(random: Random): Buffer {
  const bytes = Buffer.alloc(WRITER_BYTES);
  for (let at = 0; at < WRITER_BYTES; at += 4) bytes.writeUInt32LE(Math.floor(random() * 2 ** 32), at);
  return bytes;
}
