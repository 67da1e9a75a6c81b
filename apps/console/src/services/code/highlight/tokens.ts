/**
 * Cuts one line of code into coloured pieces. What reaches over lines (a comment, a template string) is passed on as a state: the number of the span that is
 * open, counted from 1, or 0. Time is linear in the line's length.
 */
import type { Grammar } from "./grammar.ts";

export type TokenKind = "comment" | "string" | "word" | "number" | "type" | "call";

export interface Token {
  readonly from: number;
  readonly to: number;
  readonly kind: TokenKind;
}

export interface TokenLine {
  readonly tokens: readonly Token[];
  /** For the next line. */
  readonly state: number;
}

/** Beyond this a line is data, and its rest stays plain. */
const LINE_CHARS_MAX = 4_000;
const NAME = /[A-Za-z_$\u00a1-\uffff][\w$\u00a1-\uffff-]*/y;
const PLAIN_NAME = /[A-Za-z_$\u00a1-\uffff][\w$\u00a1-\uffff]*/y;
const NUMBER = /\d[\w.]*/y;

export function tokenize(line: string, grammar: Grammar, state = 0): TokenLine {
  const { words, lineComments, spans, quotes, capitals, anyCase, openers } = grammar;
  const name = capitals ? PLAIN_NAME : NAME;
  const tokens: Token[] = [];
  const end = Math.min(line.length, LINE_CHARS_MAX);
  let at = 0;
  /** Goes to the end of an open span; false when the line ends first. */
  const finish = (index: number, from: number, search: number): boolean => {
    const span = spans[index - 1];
    if (!span) return true;
    const close = closing(line, span.close, span.escapes, search);
    at = close < 0 ? line.length : close + span.close.length;
    tokens.push({ from, to: at, kind: span.kind });
    return close >= 0;
  };
  if (state > 0 && !finish(state, 0, 0)) return { tokens, state };
  while (at < end) {
    const char = line[at] ?? "";
    if (char === " " || char === "\t") {
      at++;
      continue;
    }
    if (openers.includes(char)) {
      const opened = spans.findIndex(({ open }) => line.startsWith(open, at));
      if (opened >= 0) {
        if (!finish(opened + 1, at, at + (spans[opened]?.open.length ?? 1)))
          return { tokens, state: opened + 1 };
        continue;
      }
      if (lineComments.some((open) => line.startsWith(open, at))) {
        tokens.push({ from: at, to: line.length, kind: "comment" });
        break;
      }
    }
    if (quotes.includes(char)) {
      const close = closing(line, char, true, at + 1);
      const to = close < 0 ? line.length : close + 1;
      tokens.push({ from: at, to, kind: "string" });
      at = to;
      continue;
    }
    const number = match(NUMBER, line, at);
    if (number > at) {
      tokens.push({ from: at, to: number, kind: "number" });
      at = number;
      continue;
    }
    const to = match(name, line, at);
    if (to === at) {
      at++;
      continue;
    }
    const word = line.slice(at, to);
    const kind = kindOf(anyCase ? word.toLowerCase() : word, words, capitals, line[to] === "(");
    if (kind) tokens.push({ from: at, to, kind });
    at = to;
  }
  return { tokens, state: 0 };
}

function kindOf(
  word: string,
  words: ReadonlySet<string>,
  capitals: boolean,
  called: boolean,
): TokenKind | undefined {
  if (words.has(word)) return "word";
  if (called) return "call";
  return capitals && /^[A-Z]\w*[a-z]/.test(word) ? "type" : undefined;
}

function closing(line: string, close: string, escapes: boolean, from: number): number {
  for (let at = from; at < line.length; at++) {
    if (escapes && line[at] === "\\") at++;
    else if (line.startsWith(close, at)) return at;
  }
  return -1;
}

/** Where a match at this very place ends; the place itself when there is none. */
function match(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex : at;
}
