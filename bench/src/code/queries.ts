/** What the code bench asks: expressions in RE2's syntax that match within lines, as grep's do. */
import { readFile } from "node:fs/promises";
import { parseRegex } from "@keelson/code/engine";

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

/** One expression a line; empty lines and lines that begin with # say nothing. What is no expression is refused before anything is measured. */
export async function readQueries(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return standard;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`--queries ${file} cannot be read`, { cause: error });
  });
  const queries = new Set<string>();
  for (const [index, ended] of text
    .replace(/^\ufeff/, "")
    .split("\n")
    .entries()) {
    const line = ended.replace(/\r$/, "");
    if (line === "" || line.startsWith("#")) continue;
    try {
      parseRegex(line, { caseSensitive: true, withinLines: true });
    } catch (error) {
      throw new Error(`${file}, line ${index + 1}: ${(error as Error).message}: ${line}`, { cause: error });
    }
    queries.add(line);
  }
  if (queries.size === 0) throw new Error(`--queries ${file} has no expression`);
  return [...queries];
}
