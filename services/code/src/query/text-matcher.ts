/**
 * Matches regular expressions on short texts: names of repositories, values of metadata. It walks the engine's automaton state by state, so that any expression takes
 * time in proportion to the text; for files the engine has faster ways.
 */
import { EngineError } from "../engine/index.ts";
import { parseRegex } from "../engine/regex/parse.ts";
import { checkSize, compile } from "../engine/regex/program.ts";
import { NameAutomaton } from "./name-automaton.ts";
import type { TextMatcher } from "./specialise.ts";

/** For names this is plenty, and it is made in a few milliseconds: it runs on the event loop. */
const STATES_MAX = 10_000;

export const matchText: TextMatcher = (pattern) => {
  const node = parseRegex(pattern, { caseSensitive: true });
  checkSize(node, STATES_MAX);
  const automaton = new NameAutomaton(compile(node, { backward: false, anywhere: true }));
  return (text) => automaton.matches(Buffer.from(text));
};

/** What is wrong with an expression, and at which of its UTF-16 units; undefined when nothing is. */
export function regexProblem(pattern: string): { readonly problem: string; readonly at: number } | undefined {
  try {
    parseRegex(pattern, { caseSensitive: true, syntaxOnly: true });
    return undefined;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const characters = Array.from(pattern).slice(0, error.position ?? 0);
    return {
      problem: error.message.replace(/ at character \d+ of the expression$/, ""),
      at: characters.join("").length,
    };
  }
}
