/** The patterns that a thread compiled last: one question goes to many repositories, one after another, and compiling it takes longer than looking into a small one. */
import type { RegexQuery, SubstringQuery } from "../query.ts";
import { compilePattern, type Pattern } from "./pattern.ts";

const PATTERNS_MAX = 32;
/** Larger ones would hold megabytes. */
const STATES_MAX = 2_000;

const known = new Map<string, Pattern>();

export function patternOf(query: SubstringQuery | RegexQuery, checkpoint: () => void): Pattern {
  const key = JSON.stringify(
    query.kind === "regex"
      ? [query.kind, query.pattern, query.caseSensitive, query.withinLines === true]
      : [query.kind, query.text, query.caseSensitive],
  );
  const pattern = known.get(key) ?? compilePattern(query, checkpoint);
  if (pattern.states > STATES_MAX) return pattern;
  // The one that was asked for longest ago comes first, and goes first.
  known.delete(key);
  known.set(key, pattern);
  if (known.size > PATTERNS_MAX) known.delete(known.keys().next().value!);
  return pattern;
}
