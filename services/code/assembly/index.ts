/** The kernels, as one module. Memory is imported and shared; nothing here allocates. */
export { countLines, lineEndAt, lineStartAt } from "./blocks";
export { count, find, hash } from "./bytes";
export { findAll } from "./find-all";
export {
  and,
  encode,
  extract,
  literalBlocks,
  markUnbroken,
  nextBit,
  nextClear,
  or,
  scatter,
  spread,
  spreadLines,
} from "./grams";
export { jsonLines, locate } from "./lines";
export { scan, skim, skimStart } from "./scan";
