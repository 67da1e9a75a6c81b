/**
 * Makes a segment out of text that lies in a memory of its own. The one who fills that memory puts content where the plan says, each document followed by a zero
 * byte; `write` does the rest in place. A memory is used again for the next segment, and thrown away when building is over.
 */
import { CLASSES_AT, RESERVED_BYTES, type Kernels } from "../kernels/kernels.ts";
import type { SkipReason } from "../document.ts";
import { categoryOf } from "../rank/category.ts";
import { languageOf } from "../rank/language.ts";
import {
  BLOCKS_MAX,
  BLOCK_SHIFT_MIN,
  CHECKED_FROM,
  DIRECTORY_BYTES,
  DOCUMENT_BYTES,
  HEADER_BYTES,
  OVERLAP_BYTES,
  SEGMENT_MAGIC,
  BITMAP_BYTES,
  align,
  categories,
  header,
  record,
  skipReasons,
} from "./format.ts";

/** What the writer is told about a document whose content, if any, is already in place. */
export interface PlacedDocument {
  readonly path: string;
  readonly oid: string;
  readonly start: number;
  readonly bytes: number;
  readonly language?: string | undefined;
  readonly skipped?: SkipReason | undefined;
}

/** How much text an ordinary segment holds, names included. */
export const TEXT_BYTES = 16_777_216;
/** The same where memory is short: building takes up to six times as much. Indexes are a little larger for it. */
export const SMALL_TEXT_BYTES = 4_194_304;
export const DOCUMENTS_MAX = 65_536;
const META_BYTES = DOCUMENTS_MAX * (DOCUMENT_BYTES + 32) + 1_048_576;
const GRAMS = 262_144;

/** Where things lie in a building memory for so much text. */
export function writerPlan(textBytes: number) {
  const text = RESERVED_BYTES + HEADER_BYTES;
  const grams = textBytes + BLOCKS_MAX * (OVERLAP_BYTES + 3);
  const seen = align(text + textBytes + META_BYTES + DIRECTORY_BYTES + grams * 2 + GRAMS * 2, 4096);
  const counts = seen + GRAMS;
  const perBlock = counts + GRAMS * 4;
  const list = perBlock + BLOCKS_MAX * 4;
  const ids = list + grams * 4;
  return {
    image: RESERVED_BYTES,
    text,
    textBytes,
    seen,
    counts,
    perBlock,
    list,
    ids,
    totalBytes: ids + grams * 2,
  };
}

export class SegmentWriter {
  readonly #kernels: Kernels;
  readonly #plan: ReturnType<typeof writerPlan>;
  readonly #buffer: Buffer;
  readonly #view: DataView;

  constructor(kernels: Kernels, memory: SharedArrayBuffer, textBytes: number) {
    this.#kernels = kernels;
    this.#plan = writerPlan(textBytes);
    this.#buffer = Buffer.from(memory);
    this.#view = new DataView(memory);
  }

  /** The length of the segment that now starts at the plan's `image`. Documents are in the order of their start; `contentEnd` is after the last separator. */
  write(documents: readonly PlacedDocument[], contentEnd: number): number {
    const { image, text, seen, counts, perBlock, list, ids } = this.#plan;
    this.#buffer.fill(0, image, text);
    const nameBytes = documents.reduce((sum, each) => sum + Buffer.byteLength(each.path) + 1, 0);
    let shift = BLOCK_SHIFT_MIN;
    while (align(contentEnd, 1 << shift) + nameBytes > BLOCKS_MAX * 2 ** shift) shift += 1;
    const namesStart = align(contentEnd, 1 << shift);
    this.#buffer.fill(0, text + contentEnd, text + namesStart);
    const textBytes = namesStart + nameBytes;
    const blocks = Math.ceil(textBytes / 2 ** shift);

    const documentsAt = align(text + textBytes, 8);
    const oidBytes = documents.reduce((most, each) => Math.max(most, each.oid.length >> 1), 0);
    const oidsAt = documentsAt + documents.length * DOCUMENT_BYTES;
    const joinedAt = align(oidsAt + documents.length * oidBytes, 8);
    const unbrokenAt = joinedAt + BITMAP_BYTES * 2;
    const linesBeforeAt = unbrokenAt + BITMAP_BYTES;
    const foldingAt = align(linesBeforeAt + (blocks + 1) * 4, 8);
    this.#buffer.fill(0, documentsAt, foldingAt + BITMAP_BYTES);
    const { languages, lines } = this.#writeDocuments(documents, namesStart, documentsAt, oidsAt, oidBytes);
    this.#join(documents, namesStart, shift, joinedAt);
    const folds = this.#markFolding(textBytes, shift, foldingAt);
    const languagesAt = foldingAt + (folds ? BITMAP_BYTES : 0);
    const languagesBytes = this.#buffer.write(languages.join("\n"), languagesAt, "utf8");
    const directoryAt = align(languagesAt + languagesBytes, 8);
    const dataAt = directoryAt + DIRECTORY_BYTES;

    const k = this.#kernels;
    k.markUnbroken(text, text + textBytes, shift, unbrokenAt);
    k.countLines(text, text + textBytes, shift, linesBeforeAt);
    k.extract(text, text + textBytes, shift, OVERLAP_BYTES, CLASSES_AT, seen, counts, list, perBlock);
    k.scatter(list, perBlock, blocks, counts, ids);
    const end = align(k.encode(counts, ids, blocks, directoryAt, dataAt) >>> 0, 16);

    const set = (field: number, value: number): void => this.#view.setUint32(image + field * 4, value, true);
    set(header.magic, SEGMENT_MAGIC);
    set(header.totalBytes, end - image);
    set(header.blockShift, shift);
    set(header.blocks, blocks);
    set(header.documents, documents.length);
    set(header.textOffset, text - image);
    set(header.namesStart, namesStart);
    set(header.textBytes, textBytes);
    set(header.documentsOffset, documentsAt - image);
    set(header.oidsOffset, oidsAt - image);
    set(header.oidBytes, oidBytes);
    set(header.joinedOffset, joinedAt - image);
    set(header.foldingOffset, folds ? foldingAt - image : 0);
    set(header.directoryOffset, directoryAt - image);
    set(header.dataOffset, dataAt - image);
    set(header.languagesOffset, languagesAt - image);
    set(header.languagesBytes, languagesBytes);
    set(header.lines, lines);
    set(header.unbrokenOffset, unbrokenAt - image);
    set(header.linesBeforeOffset, linesBeforeAt - image);
    this.#view.setBigUint64(image + header.checksumLow * 4, k.hash(image + CHECKED_FROM, end), true);
    return end - image;
  }

  #writeDocuments(
    documents: readonly PlacedDocument[],
    namesStart: number,
    documentsAt: number,
    oidsAt: number,
    oidBytes: number,
  ): { languages: string[]; lines: number } {
    const { text } = this.#plan;
    const languages = new Map<string, number>([["", 0]]);
    let name = namesStart;
    let lines = 0;
    for (const [number, each] of documents.entries()) {
      const from = text + each.start;
      const to = from + each.bytes;
      const head = this.#buffer.toString("latin1", from, Math.min(to, from + 1024));
      const language = each.language ?? languageOf(each.path, head);
      if (!languages.has(language) && languages.size < 65_535) languages.set(language, languages.size);
      const category = each.skipped === undefined ? categoryOf(each.path, head) : "skipped";
      const broken = this.#kernels.count(from, to, 10);
      const lineCount = broken + (each.bytes > 0 && this.#buffer[to - 1] !== 10 ? 1 : 0);
      lines += lineCount;
      const bytes = this.#buffer.write(each.path, text + name, "utf8");
      this.#buffer[text + name + bytes] = 0;
      const at = documentsAt + number * DOCUMENT_BYTES;
      const set = (field: number, value: number): void => this.#view.setUint32(at + field * 4, value, true);
      set(record.start, each.start);
      set(record.bytes, each.bytes);
      set(record.nameStart, name);
      set(record.nameBytes, bytes);
      set(record.lines, lineCount);
      const skip = skipReasons.indexOf(each.skipped);
      set(
        record.traits,
        ((skip << 24) | (categories.indexOf(category) << 16) | (languages.get(language) ?? 0)) >>> 0,
      );
      this.#buffer.write(each.oid, oidsAt + number * oidBytes, "hex");
      name += bytes + 1;
    }
    return { languages: [...languages.keys()], lines };
  }

  /** A bit for every block that a document or a name goes on into, and one for every block in which one starts. */
  #join(documents: readonly PlacedDocument[], namesStart: number, shift: number, joinedAt: number): void {
    let name = namesStart;
    const mark = (start: number, bytes: number): void => {
      const first = Math.floor(start / 2 ** shift);
      const last = Math.floor((start + bytes) / 2 ** shift);
      this.#setBit(joinedAt + BITMAP_BYTES, first);
      for (let block = first + 1; block <= last; block += 1) this.#setBit(joinedAt, block);
    };
    for (const { start, bytes, path } of documents) {
      const nameBytes = Buffer.byteLength(path);
      mark(start, bytes);
      mark(name, nameBytes);
      name += nameBytes + 1;
    }
  }

  /** Whether there is any. A literal may start up to a few characters earlier than the block where such a character is. */
  #markFolding(textBytes: number, shift: number, foldingAt: number): boolean {
    const { text } = this.#plan;
    let any = false;
    for (const sign of [Buffer.from("\u212a"), Buffer.from("\u017f")]) {
      const needle = 8192;
      const mask = needle + 16;
      this.#buffer.set(sign, needle);
      this.#buffer.fill(0, mask, mask + 16);
      const end = text + textBytes;
      let at = text;
      for (;;) {
        at = this.#kernels.find(at, end, needle, mask, sign.length, 0, sign.length - 1, 1) >>> 0;
        if (at >= end) break;
        any = true;
        this.#setBit(foldingAt, Math.floor((at - text) / 2 ** shift));
        this.#setBit(foldingAt, Math.floor(Math.max(0, at - text - 256) / 2 ** shift));
        at += 1;
      }
    }
    return any;
  }

  #setBit(bitmap: number, bit: number): void {
    const at = bitmap + (bit >> 3);
    this.#buffer[at] = (this.#buffer[at] ?? 0) | (1 << (bit & 7));
  }
}
