/** Opens the engine: reserves the budget, starts the searching threads. */
import type { Clock } from "@keelson/kernel";
import type { CodeEngine, EngineOptions } from "../engine.ts";
import { ArenaSet } from "../memory/arena-set.ts";
import { keepYoungRoomSmall } from "../threads/young-room.ts";
import { SMALL_TEXT_BYTES, TEXT_BYTES } from "../segment/writer.ts";
import { addSymbols } from "./add-symbols.ts";
import { buildIndex } from "./build.ts";
import { Builder } from "./build-memory.ts";
import { loadIndex } from "./load.ts";
import { SPARE_THREADS, Searchers } from "./searchers.ts";

const THREADS = 2;
const THREADS_MAX = 64;
/** What a segment takes at most, for each byte of its text. */
const SEGMENT_SHARE = 1.5;
/** Below this an index is built in small parts: what building takes is much beside it, and large parts would leave gaps that others do not fit into. */
const SMALL_PARTS_BYTES = 640 << 20;

export function openEngine(options: EngineOptions, ports: { readonly clock: Clock }): CodeEngine {
  const { small = false } = options;
  if (small) keepYoungRoomSmall();
  const threads = Math.min(THREADS_MAX - SPARE_THREADS, Math.max(1, options.workers ?? THREADS));
  const spares = Math.min(THREADS_MAX - threads, Math.max(0, options.spareWorkers ?? SPARE_THREADS));
  const arenas = new ArenaSet(options.memoryBytes, threads + spares);
  const searchers = new Searchers({ threads, spares, stay: small }, arenas.arenas, ports.clock);
  const textBytes = small && options.memoryBytes < SMALL_PARTS_BYTES ? SMALL_TEXT_BYTES : TEXT_BYTES;
  const builder = new Builder(arenas, ports.clock, { stays: small, textBytes });
  const indexPorts = { arenas, searchers, clock: ports.clock };
  return {
    build: (documents, terms) => buildIndex(documents, terms, indexPorts, builder),
    load: (pieces) => loadIndex(pieces, indexPorts),
    addSymbols,
    get memory() {
      const { budgetBytes, usedBytes, touchedBytes } = arenas;
      return { budgetBytes, usedBytes, touchedBytes, roomBytes: arenas.roomBytes(textBytes * SEGMENT_SHARE) };
    },
    get threads() {
      return searchers.health;
    },
    async close() {
      await builder.stop();
      await searchers.stop();
    },
  };
}
