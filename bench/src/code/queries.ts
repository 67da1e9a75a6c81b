/** What the code bench asks: expressions in RE2's syntax that match within lines, as grep's do. */
import { readFile } from "node:fs/promises";

/** Rare and common literals, without case, anchored, alternatives, and some in which no three characters are certain. */
const standard: readonly string[] = [
  "PyUnicode_FromFormatV",
  "redisCommandTable",
  "heap_page_prune_opt",
  "runtime\\.gopanic",
  "ff_h264_decode_mb_cabac",
  "errno",
  "return",
  "static inline",
  "(?i)deadlock",
  "(?i)copyright \\(c\\)",
  "(?i)straße",
  "^func \\(.*\\) Close\\(\\)",
  "^#include <sys/[a-z]+\\.h>",
  "^\\s*goto fail;$",
  "if \\(.* == NULL\\) \\{$",
  "(malloc|calloc|realloc)\\(",
  "TO[D]O|FIX[M]E|X{3}",
  "\\bunlock(ed|ing)?\\b",
  "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}",
  "\\b[A-Z]{3}\\d{3}\\b",
  "import \\w+ from ['\"]",
  "é",
  "x{3}y?z",
];

/** One expression a line; empty lines and lines that begin with # say nothing. */
export async function readQueries(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return standard;
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.replace(/\r$/, ""));
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}
