/** One index on this machine: shared places in arenas, and which of their documents are live on which branches. */
import { crc32 } from "node:zlib";
import type { Clock } from "@keelson/kernel";
import type { DocumentInfo, NamedSymbol } from "../document.ts";
import type { CodeIndex, IndexStats } from "../engine.ts";
import { averageBytes } from "../rank/bm25.ts";
import { EngineError } from "../errors.ts";
import type { ArenaSet, SharedPlace } from "../memory/arena-set.ts";
import type { EngineQuery, SearchOptions } from "../query.ts";
import type { SearchResult } from "../result.ts";
import { BranchMasks } from "../search/open-segment.ts";
import { Segment, isSegment } from "../segment/segment.ts";
import { SymbolTable, areSymbols } from "../segment/symbols.ts";
import type { IndexPlace } from "../threads/protocol.ts";
import { Turns } from "../turns.ts";
import { breath } from "./breath.ts";
import type { Searchers } from "./searchers.ts";
import { searchIndex, searchIndexLines } from "./search.ts";
import { serializeIndex } from "./serialize.ts";

/** A segment of an index, with its symbols when there are some. */
export interface IndexPart {
  readonly segment: SharedPlace;
  readonly symbols: SharedPlace | undefined;
}

export interface IndexPorts {
  readonly arenas: ArenaSet;
  readonly searchers: Searchers;
  readonly clock: Clock;
}

/** What an open part looks like on this thread. */
export interface OpenPart {
  readonly segment: Segment;
  readonly symbols: SymbolTable | undefined;
  readonly firstDocument: number;
}

let lastIndex = 0;

export class MemoryIndex implements CodeIndex {
  readonly number: number = ++lastIndex;
  readonly branches: readonly string[];
  readonly parts: readonly IndexPart[];
  readonly opened: readonly OpenPart[];
  readonly masks: BranchMasks;
  readonly ports: IndexPorts;
  readonly stats: IndexStats;
  readonly #masksChecksum: number;
  #users = 1;
  #released = false;

  /** Takes over the caller's hold on every part, unless it rejects. */
  static async open(
    parts: readonly IndexPart[],
    branches: readonly string[],
    masks: SharedArrayBuffer,
    ports: IndexPorts,
  ): Promise<MemoryIndex> {
    let firstDocument = 0;
    const opened = parts.map(({ segment, symbols }) => {
      const { arena, start } = segment.place;
      const part = {
        segment: new Segment(ports.arenas.arenas[arena]!.bytes, start),
        symbols: symbols && new SymbolTable(ports.arenas.bytes(symbols.place)),
        firstDocument,
      };
      firstDocument += part.segment.documents;
      return part;
    });
    const stats = await measure(parts, opened, new BranchMasks(masks, branches.length), branches.length);
    return new MemoryIndex(parts, opened, branches, masks, stats, ports);
  }

  private constructor(
    parts: readonly IndexPart[],
    opened: readonly OpenPart[],
    branches: readonly string[],
    masks: SharedArrayBuffer,
    stats: IndexStats,
    ports: IndexPorts,
  ) {
    this.parts = parts;
    this.opened = opened;
    this.branches = branches;
    this.stats = stats;
    this.ports = ports;
    this.masks = new BranchMasks(masks, branches.length);
    this.#masksChecksum = checksumOf(masks);
    const place: IndexPlace = {
      index: this.number,
      branches,
      masks,
      segments: parts.map(({ segment, symbols }, index) => ({
        ...segment.place,
        firstDocument: this.opened[index]!.firstDocument,
        symbols: symbols?.place,
      })),
      averageBytes: averageBytes(this.stats),
    };
    ports.searchers.open(place);
  }

  document(number: number): DocumentInfo | undefined {
    const part = this.#partOf(number);
    return part !== undefined && this.masks.isLive(number)
      ? this.#info(part, number - part.firstDocument)
      : undefined;
  }

  *documents(): Iterable<DocumentInfo> {
    for (const part of this.opened) {
      for (let local = 0; local < part.segment.documents; local += 1) {
        if (this.masks.isLive(part.firstDocument + local)) yield this.#info(part, local);
      }
    }
  }

  find(path: string, branch?: string): DocumentInfo | undefined {
    const wanted = Buffer.from(`\0${path}\0`);
    const number = branch === undefined || branch === "HEAD" ? 0 : this.branches.indexOf(branch);
    let other: DocumentInfo | undefined;
    for (const part of this.opened) {
      const { segment } = part;
      // The byte before the first name is the zero that pads or ends the content.
      const names = Buffer.from(
        segment.bytes.buffer as ArrayBuffer,
        segment.namesFrom - 1,
        segment.textEnd - segment.namesFrom + 1,
      );
      for (let at = names.indexOf(wanted); at !== -1; at = names.indexOf(wanted, at + 1)) {
        const local = segment.documentAt(segment.namesFrom + at);
        const document = part.firstDocument + local;
        if (!this.masks.isLive(document)) continue;
        if (number >= 0 && this.masks.has(document, number)) return this.#info(part, local);
        if (branch === undefined) other ??= this.#info(part, local);
      }
    }
    return other;
  }

  content(number: number): Buffer {
    this.#refuseReleased();
    const part = this.#partOf(number);
    if (part === undefined) throw new EngineError("BAD_DOCUMENT", `the index has no document ${number}`);
    return part.segment.content(number - part.firstDocument);
  }

  symbols(number: number): readonly NamedSymbol[] {
    this.#refuseReleased();
    const part = this.#partOf(number);
    if (part?.symbols === undefined) return [];
    const { symbols, segment, firstDocument } = part;
    const text = segment.start(number - firstDocument);
    const [first, stop] = symbols.range(number - firstDocument);
    return Array.from({ length: stop - first }, (_, i) => {
      const span = symbols.span(first + i);
      const name = segment.bytes.slice(text + span.start, text + span.end);
      return { ...span, name: Buffer.from(name.buffer).toString("utf8") };
    });
  }

  search(query: EngineQuery, options: SearchOptions = {}): Promise<SearchResult> {
    return this.during(() => searchIndex(this, query, options));
  }

  async *searchLines(query: EngineQuery, options: SearchOptions = {}): AsyncIterable<Uint8Array> {
    this.#retain();
    try {
      yield* searchIndexLines(this, query, options);
    } finally {
      this.#letGo();
    }
  }

  async *serialize(): AsyncIterable<Uint8Array> {
    this.#retain();
    try {
      yield* serializeIndex(this);
    } finally {
      this.#letGo();
    }
  }

  verify(): Promise<boolean> {
    return this.during(async () => {
      if (checksumOf(this.masks.words.buffer) !== this.#masksChecksum) return false;
      for (const part of this.parts) {
        if (!this.isWhole(part)) return false;
        await breath();
      }
      return true;
    });
  }

  /** Whether memory still holds this part as it was built. */
  isWhole({ segment, symbols }: IndexPart): boolean {
    const { arenas } = this.ports;
    const { arena, start, bytes } = segment.place;
    const kernels = arenas.kernels(arena);
    return (
      isSegment(arenas.arenas[arena]!.bytes, start, bytes, (from, to) => kernels.hash(from, to)) &&
      (symbols === undefined || areSymbols(arenas.bytes(symbols.place)))
    );
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#letGo();
  }

  #retain(): void {
    this.#refuseReleased();
    this.#users += 1;
  }

  #refuseReleased(): void {
    if (this.#released) throw new EngineError("CLOSED", "the index was released");
  }

  #letGo(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.ports.searchers.close(this.number);
    for (const { segment, symbols } of this.parts) {
      segment.release();
      symbols?.release();
    }
  }

  /** Keeps the memory while this runs, released or not. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#retain();
    try {
      return await run();
    } finally {
      this.#letGo();
    }
  }

  #partOf(document: number): OpenPart | undefined {
    return this.opened.findLast(
      (part) => part.firstDocument <= document && document - part.firstDocument < part.segment.documents,
    );
  }

  #info({ segment, firstDocument }: OpenPart, local: number): DocumentInfo {
    const skipped = segment.skipped(local);
    return {
      document: firstDocument + local,
      path: segment.path(local),
      oid: segment.oid(local),
      branches: this.branches.filter((_, branch) => this.masks.has(firstDocument + local, branch)),
      language: segment.language(local),
      category: segment.category(local),
      bytes: segment.contentBytes(local),
      lines: segment.linesOf(local),
      ...(skipped === undefined ? {} : { skipped }),
    };
  }
}

/** Counts what is live, with turns for others: a repository may have two million files. */
async function measure(
  parts: readonly IndexPart[],
  opened: readonly OpenPart[],
  masks: BranchMasks,
  branches: number,
): Promise<IndexStats> {
  let documents = 0;
  let contentBytes = 0;
  let lines = 0;
  let defaultBranchLines = 0;
  let otherBranchesLines = 0;
  const turns = new Turns();
  for (const { segment, firstDocument } of opened) {
    for (let local = 0; local < segment.documents; local += 1) {
      if (turns.due) await turns.give();
      if (!masks.isLive(firstDocument + local)) continue;
      documents += 1;
      contentBytes += segment.contentBytes(local);
      const own = segment.linesOf(local);
      lines += own;
      for (let branch = 0; branch < branches; branch += 1) {
        if (!masks.has(firstDocument + local, branch)) continue;
        if (branch === 0) defaultBranchLines += own;
        else otherBranchesLines += own;
      }
    }
  }
  const memoryBytes = parts.reduce(
    (sum, part) => sum + part.segment.place.bytes + (part.symbols?.place.bytes ?? 0),
    masks.words.byteLength,
  );
  return {
    documents,
    contentBytes,
    memoryBytes,
    lines,
    defaultBranchLines,
    otherBranchesLines,
    segments: parts.length,
    symbols: parts.every(({ symbols }) => symbols !== undefined),
  };
}

function checksumOf(masks: ArrayBufferLike): number {
  return crc32(Buffer.from(masks as ArrayBuffer));
}
