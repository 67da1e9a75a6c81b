/** Opens the engine: reserves the budget, starts the searching threads. */
import type { Clock } from "@keelson/kernel";
import type { CodeEngine, EngineOptions } from "../engine.ts";
import { ArenaSet } from "../memory/arena-set.ts";
import { addSymbols } from "./add-symbols.ts";
import { buildIndex } from "./build.ts";
import { Builder } from "./build-memory.ts";
import { loadIndex } from "./load.ts";
import { SPARE_THREADS, Searchers } from "./searchers.ts";

const THREADS = 2;
const THREADS_MAX = 60;

export function openEngine(options: EngineOptions, ports: { readonly clock: Clock }): CodeEngine {
  const threads = Math.min(THREADS_MAX, Math.max(1, options.workers ?? THREADS));
  const arenas = new ArenaSet(options.memoryBytes, threads + SPARE_THREADS);
  const searchers = new Searchers(threads, arenas.arenas, ports.clock);
  const builder = new Builder(arenas, ports.clock);
  const indexPorts = { arenas, searchers, clock: ports.clock };
  return {
    build: (documents, terms) => buildIndex(documents, terms, indexPorts, builder),
    load: (pieces) => loadIndex(pieces, indexPorts),
    addSymbols,
    get memory() {
      const { budgetBytes, usedBytes, touchedBytes } = arenas;
      return { budgetBytes, usedBytes, touchedBytes };
    },
    async close() {
      await builder.stop();
      await searchers.stop();
    },
  };
}
