/**
 * Builds an index from documents, taking over from a previous index what did not change. A segment of the previous index stays as it is while most of it is still live;
 * from others, and from many small ones, the live documents are put into new segments together with what is new.
 */
import { EngineError } from "../errors.ts";
import type { SkipReason, SourceDocument, SymbolSpan } from "../document.ts";
import type { BuildOptions } from "../engine.ts";
import type { SharedPlace } from "../memory/arena-set.ts";
import { BranchMasks } from "../search/open-segment.ts";
import { encodeSymbols } from "../segment/symbols.ts";
import { DOCUMENTS_MAX, type PlacedDocument } from "../segment/writer.ts";
import { copyBytes } from "../memory/copy-bytes.ts";
import { giveBack } from "../memory/give-back.ts";
import { Turns } from "../turns.ts";
import { breath } from "./breath.ts";
import { createTextMemory, type Builder, type TextMemory } from "./build-memory.ts";
import { MemoryIndex, type IndexPart, type IndexPorts } from "./memory-index.ts";
import { Previous } from "./previous.ts";

const BRANCHES_MAX = 64;
const PATH_BYTES_MAX = 4096;
const DOCUMENT_BYTES_MAX = 16_777_216;
/** A memory for building can hold this much text and no more. */
const DOCUMENT_BYTES_LIMIT = 268_435_456;
/** Steps between two breaths: about what takes a few milliseconds. */
const STEP_BYTES = 8_388_608;
const STEP_DOCUMENTS = 512;

/** A document on its way into a segment. */
interface Pending {
  readonly placed: PlacedDocument;
  readonly branches: readonly number[];
  readonly symbols: readonly SymbolSpan[] | undefined;
}

interface Built {
  readonly part: IndexPart;
  /** For each document of the segment, the branches it is on. */
  readonly branches: readonly (readonly number[])[];
}

export async function buildIndex(
  documents: Iterable<SourceDocument> | AsyncIterable<SourceDocument>,
  options: BuildOptions,
  ports: IndexPorts,
  builder: Builder,
): Promise<MemoryIndex> {
  if (options.branches.length > BRANCHES_MAX)
    throw new EngineError(
      "BAD_DOCUMENT",
      `an index has at most ${BRANCHES_MAX} branches, not ${options.branches.length}`,
    );
  if (options.previous !== undefined && !(options.previous instanceof MemoryIndex))
    throw new EngineError("BAD_DOCUMENT", "the previous index is not one of this engine's");
  const { previous } = options;
  if (previous === undefined) return build(documents, options, ports, builder, undefined);
  return previous.during(async () =>
    build(documents, options, ports, builder, await Previous.read(previous)),
  );
}

function build(
  documents: Iterable<SourceDocument> | AsyncIterable<SourceDocument>,
  options: BuildOptions,
  ports: IndexPorts,
  builder: Builder,
  previous: Previous | undefined,
): Promise<MemoryIndex> {
  return builder.use(async (memory) => {
    const build = new Build(options, ports, builder, memory);
    try {
      for await (const document of documents) {
        options.signal?.throwIfAborted();
        await build.add(document, previous);
      }
      return await build.finish(previous);
    } catch (error) {
      build.abandon();
      throw error;
    }
  });
}

class Build {
  readonly #options: BuildOptions;
  readonly #ports: IndexPorts;
  readonly #builder: Builder;
  readonly #memory: TextMemory;
  readonly #branchNumbers: ReadonlyMap<string, number>;
  /** Shared with the previous index. */
  readonly #kept: Built[] = [];
  readonly #built: Built[] = [];
  #pending: Pending[] = [];
  #contentEnd = 0;
  #nameBytes = 0;
  #stepBytes = 0;
  #stepDocuments = 0;

  constructor(options: BuildOptions, ports: IndexPorts, builder: Builder, memory: TextMemory) {
    this.#options = options;
    this.#ports = ports;
    this.#builder = builder;
    this.#memory = memory;
    this.#branchNumbers = new Map(options.branches.map((name, number) => [name, number]));
  }

  async add(document: SourceDocument, previous: Previous | undefined): Promise<void> {
    const branches = document.branches.map((name) => {
      const number = this.#branchNumbers.get(name);
      if (number === undefined)
        throw new EngineError(
          "BAD_DOCUMENT",
          `${document.path} is on ${name}, which is not a branch of the index`,
        );
      return number;
    });
    if (branches.length === 0) throw new EngineError("BAD_DOCUMENT", `${document.path} is on no branch`);
    await this.#step(document.content?.length ?? 0);
    if (previous?.keep(document, branches) === true) return;
    if (document.skipped !== undefined)
      return this.#place(document, new Uint8Array(0), branches, document.skipped);
    if (document.content === undefined)
      throw new EngineError(
        "BAD_DOCUMENT",
        `${document.path} has no content and is not in the previous index`,
      );
    await this.#place(document, document.content, branches);
  }

  async finish(previous: Previous | undefined): Promise<MemoryIndex> {
    const { kept = [], dropped = [] } = (await previous?.choose()) ?? {};
    for (const { part, number } of previous?.droppedParts(dropped) ?? []) {
      for (const { document, branches, symbols } of previous!.liveIn(number)) {
        const { segment } = part;
        const skipped = segment.skipped(document);
        await this.#step(segment.contentBytes(document));
        await this.#place(
          {
            path: segment.path(document),
            oid: segment.oid(document),
            branches: [],
            language: segment.language(document),
            ...(symbols === undefined ? {} : { symbols }),
          },
          segment.content(document),
          branches,
          skipped,
        );
      }
    }
    await this.#flush(this.#memory);
    const turns = new Turns();
    for (const { part, branches, symbols } of previous?.keptParts(kept) ?? []) {
      const shared: { -readonly [K in keyof IndexPart]: IndexPart[K] } = {
        segment: part.segment.retain(),
        symbols: symbols === undefined ? part.symbols?.retain() : undefined,
      };
      this.#kept.push({ part: shared, branches });
      if (symbols !== undefined) shared.symbols = await this.#storeSymbols(branches.length, symbols);
      if (turns.due) await turns.give();
    }
    const all = [...this.#kept, ...this.#built];
    const documents = all.reduce((sum, each) => sum + each.branches.length, 0);
    const buffer = BranchMasks.buffer(documents, this.#options.branches.length);
    const masks = new BranchMasks(buffer, this.#options.branches.length);
    let number = 0;
    for (const { branches } of all) {
      for (const each of branches) {
        for (const branch of each) masks.set(number, branch);
        number += 1;
        if (turns.due) await turns.give();
      }
    }
    return MemoryIndex.open(
      all.map(({ part }) => part),
      this.#options.branches,
      buffer,
      this.#ports,
    );
  }

  abandon(): void {
    for (const { part } of [...this.#kept, ...this.#built]) {
      part.segment.release();
      part.symbols?.release();
    }
  }

  async #place(
    document: SourceDocument,
    content: Uint8Array,
    branches: readonly number[],
    skippedBefore?: SkipReason,
  ): Promise<void> {
    const nameBytes = Buffer.byteLength(document.path) + 1;
    if (document.path === "" || nameBytes > PATH_BYTES_MAX || document.path.includes("\0"))
      throw new EngineError(
        "BAD_DOCUMENT",
        `a path must have 1 to ${PATH_BYTES_MAX - 1} bytes and no zero byte`,
      );
    if (!/^(?:[0-9a-f]{2}){1,32}$/.test(document.oid))
      throw new EngineError(
        "BAD_DOCUMENT",
        `${document.path}: ${JSON.stringify(document.oid)} is not an object id`,
      );
    const limit = Math.min(this.#options.documentBytesMax ?? DOCUMENT_BYTES_MAX, DOCUMENT_BYTES_LIMIT);
    const skipped = skippedBefore ?? skipReason(content, limit);
    const bytes = skipped === undefined ? content.length : 0;
    const { textBytes } = this.#memory;
    const alone = bytes + nameBytes > textBytes - 65_536;
    const room = textBytes - 65_536 - this.#contentEnd - this.#nameBytes;
    if (alone || bytes + nameBytes + 1 > room || this.#pending.length >= DOCUMENTS_MAX)
      await this.#flush(this.#memory);
    const memory = alone ? createTextMemory(bytes + nameBytes + 1_048_576) : this.#memory;
    const start = this.#contentEnd;
    if (bytes > 0) copyBytes(content, memory.bytes, memory.text + start);
    memory.bytes[memory.text + start + bytes] = 0;
    this.#contentEnd = start + bytes + 1;
    this.#nameBytes += nameBytes;
    const { path, oid, language, symbols } = document;
    this.#pending.push({ placed: { path, oid, start, bytes, language, skipped }, branches, symbols });
    if (!alone) return;
    await this.#flush(memory);
    giveBack(memory.memory.buffer);
  }

  async #flush(memory: TextMemory): Promise<void> {
    if (this.#pending.length === 0) return;
    const pending = this.#pending;
    const place = await this.#builder.write(
      memory,
      pending.map(({ placed }) => placed),
      this.#contentEnd,
    );
    this.#pending = [];
    this.#contentEnd = 0;
    this.#nameBytes = 0;
    const symbols = new Map<number, readonly SymbolSpan[]>();
    for (const [number, each] of pending.entries())
      if (each.symbols !== undefined && each.symbols.length > 0) symbols.set(number, each.symbols);
    const part = { segment: place, symbols: undefined as SharedPlace | undefined };
    this.#built.push({ part, branches: pending.map((each) => each.branches) });
    if (symbols.size > 0) part.symbols = await this.#storeSymbols(pending.length, symbols);
  }

  async #storeSymbols(
    documents: number,
    symbols: ReadonlyMap<number, readonly SymbolSpan[]>,
  ): Promise<SharedPlace> {
    const bytes = await encodeSymbols(documents, symbols);
    const place = this.#ports.arenas.allocate(bytes.length);
    this.#ports.arenas.bytes(place.place).set(bytes);
    return place;
  }

  /** Documents may come without pause; the event loop still gets its turn. */
  async #step(bytes: number): Promise<void> {
    this.#stepBytes += bytes;
    this.#stepDocuments += 1;
    if (this.#stepBytes < STEP_BYTES && this.#stepDocuments < STEP_DOCUMENTS) return;
    this.#stepBytes = 0;
    this.#stepDocuments = 0;
    await breath();
  }
}

function skipReason(content: Uint8Array, limit: number): SkipReason | undefined {
  if (content.length > limit) return "too-large";
  return content.includes(0) ? "binary" : undefined;
}
