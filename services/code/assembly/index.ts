/** The kernels, as one module. Memory is imported and shared; nothing here allocates. */
export { afterLast, count, find, findAll, hash, indexOf } from "./bytes";
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
export { countLines, jsonLines, locate } from "./lines";
export { scan, skim, skimStart } from "./scan";
