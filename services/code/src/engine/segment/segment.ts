/** Reading a segment where it lies in memory. It holds no documents as objects: what is asked for is decoded then. */
import type { FileCategory, SkipReason } from "../document.ts";
import {
  CHECKED_FROM,
  DOCUMENT_BYTES,
  SEGMENT_MAGIC,
  categories,
  header,
  record,
  skipReasons,
} from "./format.ts";

export class Segment {
  readonly base: number;
  readonly bytes: Uint8Array;
  readonly totalBytes: number;
  readonly documents: number;
  readonly blocks: number;
  readonly blockShift: number;
  /** Absolute addresses. */
  readonly text: number;
  readonly namesFrom: number;
  readonly textEnd: number;
  readonly joined: number;
  /** 0 when no block has a letter that folds to ASCII. */
  readonly folding: number;
  readonly unbroken: number;
  readonly linesBefore: number;
  readonly directory: number;
  readonly data: number;
  readonly #view: DataView;
  readonly #records: number;
  #languages: readonly string[] | undefined;

  /** Requires a segment at `base`; `isSegment` says whether there is one. */
  constructor(bytes: Uint8Array, base: number) {
    this.bytes = bytes;
    this.base = base;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.totalBytes = this.#header(header.totalBytes);
    this.documents = this.#header(header.documents);
    this.blocks = this.#header(header.blocks);
    this.blockShift = this.#header(header.blockShift);
    this.text = base + this.#header(header.textOffset);
    this.namesFrom = this.text + this.#header(header.namesStart);
    this.textEnd = this.text + this.#header(header.textBytes);
    this.joined = base + this.#header(header.joinedOffset);
    const folding = this.#header(header.foldingOffset);
    this.folding = folding === 0 ? 0 : base + folding;
    this.unbroken = base + this.#header(header.unbrokenOffset);
    this.linesBefore = base + this.#header(header.linesBeforeOffset);
    this.directory = base + this.#header(header.directoryOffset);
    this.data = base + this.#header(header.dataOffset);
    this.#records = base + this.#header(header.documentsOffset);
  }

  get checksum(): bigint {
    return this.#view.getBigUint64(this.base + header.checksumLow * 4, true);
  }

  get lines(): number {
    return this.#header(header.lines);
  }

  /** Absolute, as are all addresses here. */
  start(document: number): number {
    return this.text + this.#field(document, record.start);
  }

  contentBytes(document: number): number {
    return this.#field(document, record.bytes);
  }

  nameStart(document: number): number {
    return this.text + this.#field(document, record.nameStart);
  }

  nameBytes(document: number): number {
    return this.#field(document, record.nameBytes);
  }

  linesOf(document: number): number {
    return this.#field(document, record.lines);
  }

  path(document: number): string {
    const start = this.nameStart(document);
    return this.#buffer(start, start + this.nameBytes(document)).toString("utf8");
  }

  language(document: number): string {
    return this.languages[this.#field(document, record.traits) & 0xffff] ?? "";
  }

  languageNumber(document: number): number {
    return this.#field(document, record.traits) & 0xffff;
  }

  category(document: number): FileCategory {
    return categories[this.categoryNumber(document)] ?? "ordinary";
  }

  categoryNumber(document: number): number {
    return (this.#field(document, record.traits) >>> 16) & 0xff;
  }

  skipped(document: number): SkipReason | undefined {
    return skipReasons[this.#field(document, record.traits) >>> 24];
  }

  oid(document: number): string {
    const bytes = this.#header(header.oidBytes);
    const start = this.base + this.#header(header.oidsOffset) + document * bytes;
    return this.#buffer(start, start + bytes).toString("hex");
  }

  /** A copy. */
  content(document: number): Buffer {
    const start = this.start(document);
    return Buffer.from(this.bytes.slice(start, start + this.contentBytes(document)).buffer);
  }

  get languages(): readonly string[] {
    if (this.#languages === undefined) {
      const start = this.base + this.#header(header.languagesOffset);
      const text = this.#buffer(start, start + this.#header(header.languagesBytes)).toString("utf8");
      this.#languages = text.split("\n");
    }
    return this.#languages;
  }

  /** The document whose content (or, among the names, whose path) holds this address; the one before it for a separator. */
  documentAt(address: number): number {
    const field = address >= this.namesFrom ? record.nameStart : record.start;
    const wanted = address - this.text;
    let low = 0;
    let high = this.documents - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#field(middle, field) <= wanted) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #buffer(start: number, end: number): Buffer {
    return Buffer.from(this.bytes.buffer as ArrayBuffer, this.bytes.byteOffset + start, end - start);
  }

  #header(field: number): number {
    return this.#view.getUint32(this.base + field * 4, true);
  }

  #field(document: number, field: number): number {
    return this.#view.getUint32(this.#records + document * DOCUMENT_BYTES + field * 4, true);
  }
}

/** Whether the bytes at `base` are a whole segment whose content is what was built. `hash` is the kernels', on the same memory. */
export function isSegment(
  bytes: Uint8Array,
  base: number,
  availableBytes: number,
  hash: (from: number, to: number) => bigint,
): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (availableBytes < CHECKED_FROM || view.getUint32(base, true) !== SEGMENT_MAGIC) return false;
  const total = view.getUint32(base + header.totalBytes * 4, true);
  if (total > availableBytes || total < CHECKED_FROM) return false;
  const checksum = view.getBigUint64(base + header.checksumLow * 4, true);
  return BigInt.asUintN(64, hash(base + CHECKED_FROM, base + total)) === checksum;
}
