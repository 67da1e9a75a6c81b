/** Reads what `serialize` wrote, from pieces of any length, and believes none of it before its checksum was right. */
import { crc32 } from "node:zlib";
import { EngineError } from "../errors.ts";
import type { SharedPlace } from "../memory/arena-set.ts";
import { BranchMasks } from "../search/open-segment.ts";
import { Segment, isSegment } from "../segment/segment.ts";
import { areSymbols } from "../segment/symbols.ts";
import { MemoryIndex, type IndexPart, type IndexPorts } from "./memory-index.ts";
import {
  FRAME_BYTES_MAX,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
  INDEX_VERSION,
  type Description,
} from "./serialize.ts";

/** Reads a whole index. What is wrong with the bytes is `CORRUPT_INDEX`, and all memory taken for it is given back. */
export async function loadIndex(pieces: AsyncIterable<Uint8Array>, ports: IndexPorts): Promise<MemoryIndex> {
  const reader = new FrameReader(pieces);
  const places: SharedPlace[] = [];
  try {
    const description = JSON.parse(Buffer.from(await reader.next()).toString("utf8")) as Description;
    if (description.version !== INDEX_VERSION)
      throw corrupt(`version ${description.version} is not ${INDEX_VERSION}`);
    const masks = new SharedArrayBuffer(description.masksBytes);
    await reader.readInto(new Uint8Array(masks));
    const parts: IndexPart[] = [];
    for (const { bytes, symbolsBytes } of description.segments) {
      const segment = await take(bytes, reader, places, ports);
      const { arena, start } = segment.place;
      const kernels = ports.arenas.kernels(arena);
      const memory = ports.arenas.arenas[arena]!.bytes;
      if (!isSegment(memory, start, bytes, (from, to) => kernels.hash(from, to)))
        throw corrupt("a segment's checksum is wrong");
      const symbols = symbolsBytes === 0 ? undefined : await take(symbolsBytes, reader, places, ports);
      if (symbols !== undefined && !areSymbols(ports.arenas.bytes(symbols.place)))
        throw corrupt("the checksum of symbols is wrong");
      parts.push({ segment, symbols });
    }
    checkMasks(parts, description, ports);
    return await MemoryIndex.open(parts, description.branches, masks, ports);
  } catch (error) {
    for (const place of places) place.release();
    throw error instanceof SyntaxError ? corrupt("its description cannot be read") : error;
  }
}

function checkMasks(parts: readonly IndexPart[], description: Description, ports: IndexPorts): void {
  const documents = parts.reduce((sum, { segment }) => {
    const { arena, start } = segment.place;
    return sum + new Segment(ports.arenas.arenas[arena]!.bytes, start).documents;
  }, 0);
  if (BranchMasks.buffer(documents, description.branches.length).byteLength !== description.masksBytes)
    throw corrupt("it has branches for another number of documents");
}

async function take(
  bytes: number,
  reader: FrameReader,
  places: SharedPlace[],
  ports: IndexPorts,
): Promise<SharedPlace> {
  const place = ports.arenas.allocate(bytes);
  places.push(place);
  await reader.readInto(ports.arenas.bytes(place.place));
  return place;
}

function corrupt(why: string): EngineError {
  return new EngineError("CORRUPT_INDEX", `these bytes are no index of ours: ${why}; build it again`);
}

/** Puts frames together from pieces of any length. */
class FrameReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async next(): Promise<Uint8Array> {
    const head = await this.#read(FRAME_HEADER_BYTES);
    const length = head.readUInt32LE(4);
    const checksum = head.readUInt32LE(8);
    if (head.readUInt32LE(0) !== FRAME_MAGIC || length > FRAME_BYTES_MAX)
      throw corrupt("a frame does not begin as it should");
    const payload = await this.#read(length);
    if (crc32(payload) !== checksum) throw corrupt("a frame's checksum is wrong");
    return payload;
  }

  async readInto(target: Uint8Array): Promise<void> {
    for (let at = 0; at < target.length;) {
      const payload = await this.next();
      if (payload.length === 0 || at + payload.length > target.length)
        throw corrupt("a frame is longer than what it belongs to");
      target.set(payload, at);
      at += payload.length;
    }
  }

  async #read(bytes: number): Promise<Buffer> {
    if (this.#rest.length < bytes) {
      const parts = [this.#rest];
      for (let have = this.#rest.length; have < bytes;) {
        const next = await this.#pieces.next();
        if (next.done === true) throw corrupt("they end too early");
        const { value } = next;
        parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
        have += value.byteLength;
      }
      this.#rest = Buffer.concat(parts);
    }
    const out = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return out;
  }
}
