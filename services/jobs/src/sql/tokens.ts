/** A statement's text as words, values and signs. Words are folded to lower case unless they are quoted, as SQL has it. */
import { invalid } from "./sql-error.ts";

export interface Token {
  readonly kind: "word" | "quoted" | "text" | "number" | "parameter" | "sign" | "end";
  readonly text: string;
  /** Where it begins, from 1. */
  readonly at: number;
}

const SQL_CHARS_MAX = 16_384;
const PATTERNS: readonly (readonly [Token["kind"] | "space", RegExp])[] = [
  ["space", /(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)+/y],
  ["word", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["quoted", /"(?:[^"]|"")*"/y],
  ["text", /'(?:[^']|'')*'/y],
  ["number", /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["parameter", /\$\d{1,5}/y],
  ["sign", /<>|!=|<=|>=|\|\||::|[-+*/%=<>(),.;[\]]/y],
];

export function tokensOf(sql: string): readonly Token[] {
  if (sql.length > SQL_CHARS_MAX)
    throw invalid(`a statement has at most ${SQL_CHARS_MAX} characters, not ${sql.length}`);
  const tokens: Token[] = [];
  for (let at = 0; at < sql.length;) {
    const { kind, text } = tokenAt(sql, at);
    if (kind !== "space") tokens.push({ kind, text: meant(kind, text), at: at + 1 });
    at += text.length;
  }
  tokens.push({ kind: "end", text: "the end", at: sql.length + 1 });
  return tokens;
}

function tokenAt(sql: string, at: number): { kind: Token["kind"] | "space"; text: string } {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const text = pattern.exec(sql)?.[0];
    if (text !== undefined) return { kind, text };
  }
  throw invalid(`${JSON.stringify(sql.slice(at, at + 10))} at character ${at + 1} is no SQL`);
}

function meant(kind: Token["kind"], text: string): string {
  switch (kind) {
    case "word":
      return text.toLowerCase();
    case "quoted":
      return text.slice(1, -1).replaceAll('""', '"');
    case "text":
      return text.slice(1, -1).replaceAll("''", "'");
    case "parameter":
      return text.slice(1);
    default:
      return text;
  }
}
