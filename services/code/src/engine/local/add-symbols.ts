/** The second pass over an index: the symbols of segments that have none yet. The text stays where it is; the new index shares it with the one before. */
import type { SymbolSpan } from "../document.ts";
import type { CodeIndex } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { SharedPlace } from "../memory/arena-set.ts";
import type { SymbolReader } from "../symbols/ctags.ts";
import { encodeSymbols } from "../segment/symbols.ts";
import { breath } from "./breath.ts";
import { MemoryIndex, type IndexPart, type OpenPart } from "./memory-index.ts";

/** Languages in which a tags program finds headings at best. */
const without = new Set([
  "",
  "Text",
  "JSON",
  "JSON with Comments",
  "Jest Snapshot",
  "YAML",
  "XML",
  "XML Property List",
  "XSLT",
  "SVG",
  "HTML",
  "CSV",
  "TSV",
  "Gettext Catalog",
  "Diff",
]);

/**
 * A new index with the symbols of all that had none, sharing the text; undefined when nothing lacks them. The one given stays as it is. It is a pass of its own because
 * symbols take ten times as long as text.
 */
export async function addSymbols(
  index: CodeIndex,
  reader: SymbolReader,
  signal?: AbortSignal,
): Promise<CodeIndex | undefined> {
  if (!(index instanceof MemoryIndex))
    throw new EngineError("BAD_DOCUMENT", "symbols can be added to indexes of this process only");
  const { ports } = index;
  if (index.parts.every((part) => part.symbols !== undefined)) return undefined;
  return index.during(async () => {
    const held: SharedPlace[] = [];
    try {
      const parts: IndexPart[] = [];
      for (const [number, part] of index.parts.entries()) {
        let { symbols } = part;
        if (symbols === undefined) {
          const bytes = await read(index, index.opened[number]!, reader, signal);
          symbols = ports.arenas.allocate(bytes.length);
          ports.arenas.bytes(symbols.place).set(bytes);
        } else symbols.retain();
        held.push(symbols, part.segment.retain());
        parts.push({ segment: part.segment, symbols });
      }
      const { words } = index.masks;
      return await MemoryIndex.open(parts, index.branches, words.buffer as SharedArrayBuffer, ports);
    } catch (error) {
      for (const place of held) place.release();
      throw error;
    }
  });
}

async function read(
  index: MemoryIndex,
  { segment, firstDocument }: OpenPart,
  reader: SymbolReader,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const symbols = new Map<number, readonly SymbolSpan[]>();
  for (let document = 0; document < segment.documents; document += 1) {
    if (signal?.aborted === true) throw new EngineError("CLOSED", "reading symbols was cancelled");
    const worth = segment.category(document) !== "skipped" && !without.has(segment.language(document));
    if (!worth || !index.masks.isLive(firstDocument + document)) continue;
    const found = await reader.read(segment.path(document), segment.content(document));
    if (found.length > 0) symbols.set(document, found);
    await breath();
  }
  return encodeSymbols(segment.documents, symbols);
}
