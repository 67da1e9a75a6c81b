/**
 * Matches regular expressions on short texts: names of repositories, values of metadata. It walks the engine's automaton state by state, so that any expression takes
 * time in proportion to the text; for files the engine has faster ways.
 */
import { EngineError } from "../engine/index.ts";
import { parseRegex } from "../engine/regex/parse.ts";
import { checkSize, compile, type Program } from "../engine/regex/program.ts";
import type { Assertion } from "../engine/regex/syntax.ts";
import type { TextMatcher } from "./specialise.ts";

/** For names this is plenty, and it is made in a few milliseconds: it runs on the event loop. */
const STATES_MAX = 10_000;

export const matchText: TextMatcher = (pattern) => {
  const node = parseRegex(pattern, { caseSensitive: true });
  checkSize(node, STATES_MAX);
  const program = compile(node, { backward: false, anywhere: true });
  return (text) => run(program, Buffer.from(text));
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

function run(program: Program, text: Buffer): boolean {
  let states = new Set([program.start]);
  for (let at = 0; at <= text.length; at++) {
    const reached = close(program, states, text, at);
    if (reached === "match") return true;
    const next = new Set<number>();
    const byte = text[at];
    if (byte === undefined) return false;
    for (const state of reached) {
      const reader = program.states[state]!;
      if (reader.kind !== "bytes") continue;
      for (const { from, to, next: to_ } of reader.ranges) if (byte >= from && byte <= to) next.add(to_);
    }
    states = next;
  }
  return false;
}

/** Everything that is reached without reading. */
function close(program: Program, states: Iterable<number>, text: Buffer, at: number): Set<number> | "match" {
  const reached = new Set<number>();
  const waiting = [...states];
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    if (reached.has(state)) continue;
    reached.add(state);
    const each = program.states[state]!;
    if (each.kind === "match") return "match";
    if (each.kind === "split") waiting.push(...each.next);
    else if (each.kind === "assert" && holds(each.assertion, text, at)) waiting.push(each.next);
  }
  return reached;
}

function holds(assertion: Assertion, text: Buffer, at: number): boolean {
  switch (assertion) {
    case "text-start":
      return at === 0;
    case "text-end":
      return at === text.length;
    case "line-start":
      return at === 0 || text[at - 1] === 10;
    case "line-end":
      return at === text.length || text[at] === 10;
    case "word-edge":
      return isWord(text[at - 1]) !== isWord(text[at]);
    case "no-word-edge":
      return isWord(text[at - 1]) === isWord(text[at]);
  }
}

function isWord(byte: number | undefined): boolean {
  return byte !== undefined && /\w/.test(String.fromCodePoint(byte)) && byte < 128;
}
