/**
 * The objects of one journal:
 *
 *   journal/<name>/segment/<sequence>   one flush, or an opening, or a fence: whatever was first to be put under that sequence
 *   journal/<name>/floor/<sequence>     batches below are trimmed
 *
 * A segment that holds a batch has an even number of bytes, an opening or a fence an odd one, so that a listing tells them apart: openings and fences are never
 * removed, because the writer that they ended may wake up and must find its next sequence taken, for ever.
 */
import type { ObjectCallOptions, Objects } from "../../contract.ts";
import { checkKey } from "../../keys.ts";
import type { StreamFence } from "../contract.ts";
import { JournalError } from "../errors.ts";
import { batchLength, checkBatch, type BatchIdentity } from "../format/batch.ts";
import { decodeFences, encodeFences } from "../format/fences.ts";
import { HEADER_BYTES, decodeHeader, encodeHeader, type SegmentHeader } from "../format/segment-header.ts";
import type { BatchBytes } from "../log.ts";

export interface Slot {
  readonly sequence: number;
  readonly sizeBytes: number;
}

/** An opening or a fence. */
export interface Mark {
  readonly kind: "opening" | "fence";
  readonly header: SegmentHeader;
  readonly fences: readonly StreamFence[];
}

export type Segment =
  | Mark
  | {
      readonly kind: "data";
      readonly header: SegmentHeader;
      readonly identity: BatchIdentity;
      readonly batch: Buffer;
    };

/** Enough for the index of most batches: one sealed block. */
const SKIM_BYTES = 65_528;

export class JournalObjects {
  readonly #objects: Objects;
  readonly #prefix: string;

  constructor(objects: Objects, name: string) {
    this.#prefix = `journal/${name}/`;
    checkKey(this.#key("segment", 0));
    this.#objects = objects;
  }

  get place(): string {
    return `${this.#prefix} of ${this.#objects.place}`;
  }

  /** The segments from a sequence on, in order, page by page. */
  async *slots(from: number, options: ObjectCallOptions): AsyncGenerator<Slot> {
    for (let after = this.#key("segment", from - 1); ;) {
      const { objects, more } = await this.#objects.list(`${this.#prefix}segment/`, { ...options, after });
      for (const { key, sizeBytes } of objects) yield { sequence: sequenceOf(key), sizeBytes };
      if (!more) return;
      after = objects.at(-1)!.key;
    }
  }

  async put(sequence: number, body: Buffer, options: ObjectCallOptions): Promise<"created" | "exists"> {
    return (await this.#objects.putIfAbsent(this.#key("segment", sequence), body, options)).kind;
  }

  async read(sequence: number, options: ObjectCallOptions): Promise<Segment | undefined> {
    const key = this.#key("segment", sequence);
    const found = await this.#objects.get(key, options);
    return found === undefined ? undefined : decodeSegment(found.bytes, sequence, key);
  }

  /** The beginning of a segment, with its header and, as a rule, its index. */
  async skim(sequence: number, options: ObjectCallOptions): Promise<Buffer | undefined> {
    return (await this.#objects.getRange(this.#key("segment", sequence), 0, SKIM_BYTES, options))?.bytes;
  }

  /** The highest floor; 0 when nothing was trimmed. */
  async floor(options: ObjectCallOptions): Promise<number> {
    const floors = await this.#floors(options);
    return Math.max(0, ...floors.map(sequenceOf));
  }

  /** Says first that batches below `sequence` are gone, then removes them. */
  async trim(sequence: number, options: ObjectCallOptions): Promise<void> {
    const floors = await this.#floors(options);
    const known = Math.max(0, ...floors.map(sequenceOf));
    if (sequence > known)
      await this.#objects.putIfAbsent(this.#key("floor", sequence), Buffer.alloc(0), options);
    let keys: string[] = floors.filter((key) => sequenceOf(key) < Math.max(known, sequence));
    for await (const slot of this.slots(1, options)) {
      if (slot.sequence >= sequence) break;
      if (slot.sizeBytes % 2 === 0) keys.push(this.#key("segment", slot.sequence));
      if (keys.length < 1000) continue;
      await this.#objects.delete(keys, options);
      keys = [];
    }
    if (keys.length > 0) await this.#objects.delete(keys, options);
  }

  async #floors(options: ObjectCallOptions): Promise<string[]> {
    const { objects } = await this.#objects.list(`${this.#prefix}floor/`, options);
    return objects.map(({ key }) => key);
  }

  #key(kind: "segment" | "floor", sequence: number): string {
    return `${this.#prefix}${kind}/${String(sequence).padStart(16, "0")}`;
  }
}

export function encodeData(header: SegmentHeader, { head, records }: BatchBytes): Buffer {
  const length = HEADER_BYTES + head.length + records.length;
  return Buffer.concat([encodeHeader(header), head, records], length + (length % 2));
}

export function encodeFence(header: SegmentHeader, fences: readonly StreamFence[]): Buffer {
  const list = encodeFences(fences);
  const length = HEADER_BYTES + list.length;
  return Buffer.concat([encodeHeader(header), list], length + 1 - (length % 2));
}

function decodeSegment(bytes: Buffer, sequence: number, name: string): Segment {
  const header = decodeHeader(bytes, name);
  if (header === undefined || header.kind === "cut" || header.sequence !== sequence)
    throw new JournalError("JOURNAL_CORRUPT", `${name} is damaged: it is no segment ${sequence}`);
  const { kind } = header;
  if (kind !== "data") return { kind, header, fences: decodeFences(bytes.subarray(HEADER_BYTES), name) };
  const length = batchLength(bytes, HEADER_BYTES) ?? 0;
  const batch = bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
  const identity = checkBatch(batch, name);
  if (identity?.sequence !== sequence)
    throw new JournalError("JOURNAL_CORRUPT", `${name} is damaged: its batch does not match its checksum`);
  return { kind, header, identity, batch };
}

function sequenceOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}
