/**
 * Matches regular expressions on short texts: names of repositories, values of metadata. It walks the engine's automaton state by state, so that any expression takes
 * time in proportion to the text; for files the engine has faster ways.
 */
import { EngineError } from "../engine/index.ts";
import { foldSet } from "../engine/regex/case-fold.ts";
import { unicodeSet } from "../engine/regex/char-set.ts";
import { parseRegex } from "../engine/regex/parse.ts";
import { checkSize, compile } from "../engine/regex/program.ts";
import { Turns } from "../engine/turns.ts";
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

/** Thrown to stop making a table; it is gone on with afterwards. */
class OthersTurn extends Error {}

const NAMED_SETS = /\\[pP](?:\{\^?(?<long>\w+)\}|(?<short>\w))/g;
const WITHOUT_CASE = /\(\?\w*i/;

/**
 * Makes what the first expressions with `\pL` or `(?i)é` need of Unicode: a hundred milliseconds of work, with turns for others in between. What is wrong with an expression is
 * said when it is matched.
 */
export async function prepareText(pattern: string): Promise<void> {
  const turns = new Turns();
  const inTurns = async (make: (checkpoint: () => void) => void): Promise<void> => {
    for (let made = false; !made;) {
      try {
        make(() => {
          if (turns.due) throw new OthersTurn();
        });
        made = true;
      } catch (error) {
        if (!(error instanceof OthersTurn)) throw error;
        await turns.give();
      }
    }
  };
  for (const { groups } of pattern.matchAll(NAMED_SETS)) {
    const name = groups?.["long"] ?? groups?.["short"] ?? "";
    await inTurns((checkpoint) => unicodeSet(name, checkpoint));
  }
  if (WITHOUT_CASE.test(pattern)) await inTurns((checkpoint) => foldSet(CASED, checkpoint));
}

/** Any letter beyond ASCII. */
const CASED: readonly number[] = [0xe9, 0xe9];

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
