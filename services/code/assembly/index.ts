/** The kernels, as one module. Memory is imported and shared; nothing here allocates. */
export { count, find, findAll, hash } from "./bytes";
export { and, encode, extract, literalBlocks, nextBit, nextClear, or, scatter, spread } from "./grams";
export { jsonLines, locate } from "./lines";
export { scan, skim, skimStart } from "./scan";
