/** The engine: indexes of repositories in memory, and nothing of fleets. */
export type {
  DocumentInfo,
  FileCategory,
  NamedSymbol,
  SkipReason,
  SourceDocument,
  SymbolSpan,
} from "./document.ts";
export type {
  BuildOptions,
  CodeEngine,
  CodeIndex,
  EngineOptions,
  IndexStats,
  MemoryStats,
} from "./engine.ts";
export { openCtags, type SymbolReader } from "./symbols/ctags.ts";
export { stepHelpersBack, stepProcessBack } from "./threads/step-back.ts";
export { Turns } from "./turns.ts";
export { bestLines } from "./rank/best-lines.ts";
export { bytesOfFile, bytesOfLine } from "./shown-bytes.ts";
export { openEngine } from "./local/open-engine.ts";
export { EngineError, type EngineErrorCode } from "./errors.ts";
export type {
  EngineQuery,
  FileTaker,
  RegexQuery,
  Scope,
  SearchOptions,
  SubstringQuery,
  SymbolQuery,
} from "./query.ts";
export { parseRegex } from "./regex/parse.ts";
export type { Node as RegexNode } from "./regex/syntax.ts";
export type {
  FileMatch,
  ListedFile,
  LineMatch,
  MatchRange,
  PartialReason,
  Position,
  SearchCounts,
  SearchResult,
  SymbolInfo,
} from "./result.ts";
