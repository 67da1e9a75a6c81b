/** The index before, as a build reads it: which of its documents are wanted again, and which of its segments are worth keeping for them. */
import type { SourceDocument, SymbolSpan } from "../document.ts";
import { EngineError } from "../errors.ts";
import { Turns } from "../turns.ts";
import type { IndexPart, MemoryIndex, OpenPart } from "./memory-index.ts";

/** A segment is kept while at least this share of its bytes is live. */
const LIVE_SHARE_MIN = 0.75;
/** Segments below this are small; when there are more than so many, they are put together. */
const SMALL_BYTES = 2_097_152;
const SMALL_MAX = 8;

interface Live {
  readonly branches: readonly number[];
  readonly symbols: readonly SymbolSpan[] | undefined;
}

export class Previous {
  readonly #index: MemoryIndex;
  /** Where each path with each object id is: segment and document. */
  readonly #places = new Map<string, readonly [number, number]>();
  readonly #live: Map<number, Live>[];

  private constructor(index: MemoryIndex) {
    this.#index = index;
    this.#live = index.opened.map(() => new Map<number, Live>());
  }

  static async read(index: MemoryIndex): Promise<Previous> {
    const previous = new Previous(index);
    const turns = new Turns();
    for (const [number, { segment, firstDocument }] of index.opened.entries()) {
      for (let document = 0; document < segment.documents; document += 1) {
        if (!index.masks.isLive(firstDocument + document)) continue;
        previous.#places.set(key(segment.path(document), segment.oid(document)), [number, document]);
        if (turns.due) await turns.give();
      }
    }
    return previous;
  }

  /** True when the index has this very document; it is then wanted again. */
  keep(document: SourceDocument, branches: readonly number[]): boolean {
    const place = this.#places.get(key(document.path, document.oid));
    if (place === undefined) return false;
    this.#live[place[0]]!.set(place[1], { branches, symbols: document.symbols });
    return true;
  }

  /** Which segments are shared, and which have live documents that move into new ones. For when all documents are known. */
  async choose(): Promise<{ readonly kept: readonly number[]; readonly dropped: readonly number[] }> {
    const turns = new Turns();
    const numbers: number[] = [];
    const worth: number[] = [];
    for (const [number, live] of this.#live.entries()) {
      if (live.size === 0) continue;
      numbers.push(number);
      if ((await this.#liveShare(number, turns)) >= LIVE_SHARE_MIN) worth.push(number);
    }
    const small = worth.filter((number) => this.#index.parts[number]!.segment.place.bytes < SMALL_BYTES);
    const keep = new Set(
      small.length > SMALL_MAX ? worth.filter((number) => !small.includes(number)) : worth,
    );
    return {
      kept: numbers.filter((number) => keep.has(number)),
      dropped: numbers.filter((number) => !keep.has(number)),
    };
  }

  /** Segments to share, with the branches of every document (none: gone) and, when they change, all symbols. */
  *keptParts(numbers: readonly number[]): Iterable<{
    part: IndexPart;
    branches: (readonly number[])[];
    symbols: Map<number, readonly SymbolSpan[]> | undefined;
  }> {
    for (const number of numbers) {
      const live = this.#live[number]!;
      const { segment } = this.#index.opened[number]!;
      const branches = Array.from(
        { length: segment.documents },
        (_, document) => live.get(document)?.branches ?? [],
      );
      const changed = [...live.values()].some((each) => each.symbols !== undefined);
      const symbols = changed ? new Map<number, readonly SymbolSpan[]>() : undefined;
      if (symbols !== undefined)
        for (const each of this.liveIn(number))
          if (each.symbols !== undefined) symbols.set(each.document, each.symbols);
      yield { part: this.#index.parts[number]!, branches, symbols };
    }
  }

  /** Segments whose live documents move into new ones. What memory no longer holds as it was built is not copied: it would get a checksum that is right. */
  *droppedParts(numbers: readonly number[]): Iterable<{ part: OpenPart; number: number }> {
    for (const number of numbers) {
      if (!this.#index.isWhole(this.#index.parts[number]!))
        throw new EngineError(
          "CORRUPT_INDEX",
          "memory no longer holds what was built: build it from nothing",
        );
      yield { part: this.#index.opened[number]!, number };
    }
  }

  *liveIn(number: number): Iterable<{
    document: number;
    branches: readonly number[];
    symbols: readonly SymbolSpan[] | undefined;
  }> {
    const table = this.#index.opened[number]!.symbols;
    for (const [document, { branches, symbols }] of this.#live[number]!) {
      if (symbols !== undefined || table === undefined) {
        yield { document, branches, symbols };
        continue;
      }
      const [first, stop] = table.range(document);
      yield {
        document,
        branches,
        symbols: Array.from({ length: stop - first }, (_, i) => table.span(first + i)),
      };
    }
  }

  async #liveShare(number: number, turns: Turns): Promise<number> {
    const { segment } = this.#index.opened[number]!;
    let all = 0;
    let live = 0;
    for (let document = 0; document < segment.documents; document += 1) {
      const bytes = segment.contentBytes(document) + 1;
      all += bytes;
      if (this.#live[number]!.has(document)) live += bytes;
      if (turns.due) await turns.give();
    }
    return live / all;
  }
}

function key(path: string, oid: string): string {
  return `${oid}\0${path}`;
}
