/**
 * The streams that are fenced, as they follow the header of an opening or a fence: u32 count; per stream u16 length, the id, u64 era, u64 revision; u32 CRC-32 of all
 * that. An opening repeats what the openings and fences before it said, so that whoever opens next need not read those.
 */
import { crc32 } from "node:zlib";
import { compareEpochs, type Epoch } from "@keelson/kernel";
import type { StreamFence } from "../contract.ts";
import { JournalError } from "../errors.ts";
import { readNumber, writeNumber } from "./numbers.ts";

export function encodeFences(fences: readonly StreamFence[]): Buffer {
  const ids = fences.map(({ stream }) => Buffer.from(stream));
  const length = ids.reduce((sum, id) => sum + 18 + id.length, 8);
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32LE(fences.length, 0);
  let at = 4;
  for (const [n, { epoch }] of fences.entries()) {
    const id = ids[n]!;
    at = bytes.writeUInt16LE(id.length, at);
    at += id.copy(bytes, at);
    writeNumber(bytes, epoch.era, at);
    writeNumber(bytes, epoch.revision, at + 8);
    at += 16;
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(0, at)), at);
  return bytes;
}

export function decodeFences(bytes: Buffer, name: string): StreamFence[] {
  try {
    const fences: StreamFence[] = [];
    let at = 4;
    for (let left = bytes.readUInt32LE(0); left > 0; left -= 1) {
      const end = at + 2 + bytes.readUInt16LE(at);
      const stream = bytes.toString("utf8", at + 2, end);
      fences.push({ stream, epoch: { era: readNumber(bytes, end), revision: readNumber(bytes, end + 8) } });
      at = end + 16;
    }
    if (bytes.readUInt32LE(at) === crc32(bytes.subarray(0, at))) return fences;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new JournalError(
    "JOURNAL_CORRUPT",
    `${name} is damaged: its list of fenced streams does not match its checksum`,
  );
}

/** What is known of fences: the highest epoch for each stream. */
export class FenceMap {
  readonly #epochs = new Map<string, Epoch>();

  add(fences: Iterable<StreamFence>): void {
    for (const { stream, epoch } of fences) {
      const known = this.#epochs.get(stream);
      if (known === undefined || compareEpochs(epoch, known) > 0) this.#epochs.set(stream, epoch);
    }
  }

  /** Whether an append under this epoch is too late. */
  refuses(stream: string, epoch: Epoch): boolean {
    const known = this.#epochs.get(stream);
    return known !== undefined && compareEpochs(epoch, known) < 0;
  }

  list(): StreamFence[] {
    return Array.from(this.#epochs, ([stream, epoch]) => ({ stream, epoch }));
  }
}
