/**
 * Cuts a query into tokens: words with or without a prefix (`file:`), negation, `or`, and the parentheses that group. A parenthesis groups only when a space
 * stands inside it outside quotes; otherwise it is text of a regular expression. It does not know what a word means.
 */
import { QueryError } from "./query-error.ts";

type TokenKind =
  | "text"
  | "file"
  | "repo"
  | "case"
  | "branch"
  | "open"
  | "close"
  | "negate"
  | "or"
  | "content"
  | "lang"
  | "sym"
  | "type"
  | "archived"
  | "public"
  | "fork"
  | "meta";

export interface Token {
  readonly kind: TokenKind;
  /** Without prefix and quotes; escapes outside quotes are kept, because they belong to regular expressions. */
  readonly text: string;
  /** For each character of the text, where it stands in the query; one more for its end. */
  readonly origins: readonly number[];
  readonly at: number;
  readonly end: number;
}

const PREFIXES: Readonly<Record<string, TokenKind>> = {
  "archived:": "archived",
  "b:": "branch",
  "branch:": "branch",
  "c:": "content",
  "case:": "case",
  "content:": "content",
  "f:": "file",
  "file:": "file",
  "fork:": "fork",
  "lang:": "lang",
  "meta.": "meta",
  "public:": "public",
  "r:": "repo",
  "regex:": "text",
  "repo:": "repo",
  "sym:": "sym",
  "t:": "type",
  "type:": "type",
};

const PREFIX = /^(?:[a-z]+:|meta\.)/;

export class Tokens {
  readonly #query: string;
  readonly #literal: boolean;
  #at = 0;

  /** In literal text backslashes and parentheses are ordinary characters. */
  constructor(query: string, literal = false) {
    this.#query = query;
    this.#literal = literal;
  }

  get at(): number {
    return this.#at;
  }

  /** The next token without taking it; undefined at the end. */
  peek(): Token | undefined {
    const query = this.#query;
    while (this.#at < query.length && isSpace(query[this.#at]!)) this.#at++;
    if (this.#at >= query.length) return undefined;
    const at = this.#at;
    if (query[at] === "-") return { kind: "negate", text: "-", origins: [at, at + 1], at, end: at + 1 };
    return this.#word(at);
  }

  next(): Token | undefined {
    const token = this.peek();
    if (token) this.#at = token.end;
    return token;
  }

  #word(at: number): Token {
    const query = this.#query;
    let text = "";
    const origins: number[] = [];
    let depth = 0;
    let spaceInside = false;
    let i = at;
    const take = (from: number): void => {
      text += query[from]!;
      origins.push(from);
    };
    scan: while (i < query.length) {
      const c = query[i]!;
      if (c === '"') {
        i = this.#quoted(i, take);
        continue;
      }
      if (isSpace(c)) {
        spaceInside = depth > 0;
        break;
      }
      if (!this.#literal) {
        switch (c) {
          case "(":
            depth++;
            break;
          case ")":
            if (depth === 0) {
              if (i === at) return { kind: "close", text: ")", origins: [at, at + 1], at, end: at + 1 };
              break scan;
            }
            depth--;
            break;
          case "\\":
            if (i + 1 >= query.length)
              throw new QueryError("a backslash needs a character after it", query, i);
            take(i++);
            break;
        }
      }
      take(i++);
    }
    if (spaceInside && query[at] === "(")
      return { kind: "open", text: "(", origins: [at, at + 1], at, end: at + 1 };
    origins.push(i);
    return withPrefix(query, { kind: "text", text, origins, at, end: i });
  }

  /** Takes what stands between quotes, where a backslash takes the next character as it is. Returns where to go on. */
  #quoted(open: number, take: (from: number) => void): number {
    const query = this.#query;
    for (let i = open + 1; i < query.length; i++) {
      const c = query[i]!;
      if (c === '"') return i + 1;
      if (c === "\\" && ++i >= query.length) break;
      take(i);
    }
    throw new QueryError("a quote is opened and never closed", query, open);
  }
}

function withPrefix(query: string, token: Token): Token {
  const input = query.slice(token.at, token.end);
  if (input === "or") return { ...token, kind: "or" };
  const prefix = PREFIX.exec(input)?.[0] ?? "";
  const kind = Object.hasOwn(PREFIXES, prefix) ? PREFIXES[prefix] : undefined;
  if (!kind) return token;
  return {
    ...token,
    kind,
    text: token.text.slice(prefix.length),
    origins: token.origins.slice(prefix.length),
  };
}

function isSpace(c: string): boolean {
  return c === " " || c === "\t" || c === "\n" || c === "\r";
}
