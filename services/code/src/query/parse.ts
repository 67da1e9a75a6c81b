/**
 * The query language: zoekt's, with its meaning. Words are joined by "and"; `or` binds less than that; `-` negates a word or a group; `case:` holds for its
 * group and those inside that say nothing else; `type:` holds for its whole group, `or` included. See docs/code/query.md for the table.
 */
import { examinePattern, hasUppercase } from "./pattern.ts";
import { QueryError } from "./query-error.ts";
import type { ConfigField, Query, ResultType, TextAtom, TextScope } from "./query.ts";
import { simplify } from "./simplify.ts";
import { Tokens, type Token } from "./tokens.ts";

export interface ParseOptions {
  /** Patterns are text, not regular expressions; parentheses and backslashes are ordinary characters. */
  readonly literal?: boolean;
  /** What is wrong with a regular expression, and where; undefined when nothing is. */
  readonly regexProblem?: (pattern: string) => { readonly problem: string; readonly at: number } | undefined;
  /** The name that files bear for a language's name or alias; undefined when there is no such language. */
  readonly language?: (name: string) => string | undefined;
}

export const queryLengthMax = 32_768;
/** Groups and negations inside one another. */
const depthMax = 100;
/** Words with or without a prefix: each takes some microseconds of an event loop to understand. */
const wordsMax = 1_000;

type CaseMode = "yes" | "no" | "auto";

/** An atom whose case is not settled before its group has been read. */
interface OpenAtom {
  kind: "open";
  readonly atom: Omit<TextAtom, "caseSensitive">;
  readonly uppercase: boolean;
  readonly symbol: boolean;
  mode: CaseMode | undefined;
}

/** A tree whose leaves may be open. */
type Draft =
  | OpenAtom
  | { readonly kind: "and" | "or"; readonly children: readonly Draft[] }
  | { readonly kind: "not"; readonly child: Draft }
  | { readonly kind: "type"; readonly type: ResultType; readonly child: Draft }
  | Exclude<Query, { kind: "and" | "or" | "not" | "type" }>;

/** Throws {@link QueryError}. */
export function parseQuery(text: string, options: ParseOptions = {}): Query {
  if (text.length > queryLengthMax)
    throw new QueryError(
      `the query has ${text.length} characters, and ${queryLengthMax} are allowed: ask for less`,
      text.slice(0, queryLengthMax),
      queryLengthMax,
    );
  const parser = new Parser(text, options);
  return simplify(settle(parser.whole()));
}

class Parser {
  readonly #text: string;
  readonly #tokens: Tokens;
  readonly #options: ParseOptions;
  #depth = 0;
  #words = 0;

  constructor(text: string, options: ParseOptions) {
    this.#text = text;
    this.#options = options;
    this.#tokens = new Tokens(text, options.literal);
  }

  whole(): Draft {
    const draft = this.#group();
    const left = this.#tokens.peek();
    if (left)
      throw this.#error("this parenthesis closes nothing: remove it, or write \\) to search for it", left.at);
    return draft;
  }

  /** Everything up to a closing parenthesis or the end. */
  #group(): Draft {
    const alternatives: Draft[][] = [];
    let current: Draft[] = [];
    let mode: CaseMode | undefined;
    let type: ResultType | undefined;
    let lastOr: Token | undefined;
    for (let token = this.#tokens.peek(); token && token.kind !== "close"; token = this.#tokens.peek()) {
      if (token.kind === "or") {
        this.#tokens.next();
        if (current.length === 0) throw this.#error('"or" needs something before it', token.at);
        alternatives.push(current);
        current = [];
        lastOr = token;
      } else if (token.kind === "case") {
        this.#tokens.next();
        mode = this.#word(token, ["yes", "no", "auto"]);
      } else if (token.kind === "type") {
        this.#tokens.next();
        type = narrower(type, this.#type(token));
      } else current.push(this.#expression());
    }
    if (lastOr && current.length === 0) throw this.#error('"or" needs something after it', lastOr.end);
    alternatives.push(current);
    const children = alternatives.map((parts): Draft => ({ kind: "and", children: parts }));
    const draft: Draft = { kind: "or", children };
    if (mode) setCase(draft, mode);
    return type ? { kind: "type", type, child: draft } : draft;
  }

  #expression(): Draft {
    const token = this.#tokens.next()!;
    if (token.kind !== "open" && token.kind !== "negate") return this.#atom(token);
    if (++this.#depth > depthMax)
      throw this.#error(`more than ${depthMax} groups inside one another`, token.at);
    const inner = token.kind === "open" ? this.#parenthesised(token) : this.#negated(token);
    this.#depth--;
    return inner;
  }

  #parenthesised(open: Token): Draft {
    const inner = this.#group();
    if (this.#tokens.next()?.kind !== "close")
      throw this.#error("this parenthesis is never closed: close it, or write \\( to search for it", open.at);
    return inner;
  }

  #negated(negate: Token): Draft {
    const next = this.#tokens.peek();
    const operand = next && next.kind !== "close" && next.kind !== "or";
    if (!operand || next.at !== negate.end)
      throw this.#error(
        '"-" needs something right after it to exclude: quote it to search for it',
        negate.at,
      );
    if (next.kind === "case" || next.kind === "type")
      throw this.#error(`${next.kind}: cannot be excluded`, next.at);
    return { kind: "not", child: this.#expression() };
  }

  #atom(token: Token): Draft {
    if (++this.#words > wordsMax)
      throw this.#error(
        `a query may have ${wordsMax} words: ask for less, or join them in one expression`,
        token.at,
      );
    switch (token.kind) {
      case "text":
        return this.#pattern(token, "either");
      case "file":
        return this.#pattern(token, "file");
      case "content":
        return this.#pattern(token, "content");
      case "sym":
        if (token.text === "")
          throw this.#error("sym: needs the name of a symbol, or a part of it", token.end);
        return this.#symbol(token);
      case "repo":
        return { kind: "repo", pattern: this.#regex(token, token.text, token.origins) };
      case "branch":
        return { kind: "branch", pattern: token.text, exact: false };
      case "lang": {
        const resolve = this.#options.language;
        const language = resolve ? resolve(token.text) : token.text;
        return language === undefined ? { kind: "const", value: false } : { kind: "language", language };
      }
      case "archived":
      case "fork":
      case "public":
        return this.#config(token, token.kind);
      case "meta":
        return this.#meta(token);
      default:
        throw new Error(`${token.kind} is no atom`);
    }
  }

  #symbol(token: Token): OpenAtom {
    const open = this.#pattern(token, "content");
    // `sym:()` asks for nothing of a name: any will do.
    const atom =
      open.atom.pattern === "" ? ({ ...open.atom, kind: "regex", pattern: ".*" } as const) : open.atom;
    return { ...open, atom, symbol: true };
  }

  #pattern(token: Token, scope: TextScope): OpenAtom {
    const { text } = token;
    const open = { kind: "open", symbol: false, mode: undefined } as const;
    if (this.#options.literal)
      return { ...open, atom: { kind: "substring", pattern: text, scope }, uppercase: hasUppercase(text) };
    this.#regex(token, text, token.origins);
    const { literal, uppercase } = examinePattern(text);
    const atom =
      literal === undefined
        ? ({ kind: "regex", pattern: text, scope } as const)
        : ({ kind: "substring", pattern: literal, scope } as const);
    return { ...open, atom, uppercase };
  }

  /** Checks a regular expression, and points into the query at what is wrong with it. */
  #regex(token: Token, pattern: string, origins: readonly number[]): string {
    if (this.#options.literal) return escapeRegex(pattern);
    const wrong = this.#options.regexProblem?.(pattern);
    if (!wrong) return pattern;
    const at = origins[Math.min(wrong.at, origins.length - 1)] ?? token.at;
    throw this.#error(wrong.problem, at);
  }

  #config(token: Token, field: ConfigField): Draft {
    return { kind: "config", field, value: this.#word(token, ["yes", "no"]) === "yes" };
  }

  #meta(token: Token): Draft {
    const colon = token.text.indexOf(":");
    if (colon < 1) throw this.#error("meta. needs a field and a value: meta.team:search", token.at);
    const pattern = this.#regex(token, token.text.slice(colon + 1), token.origins.slice(colon + 1));
    return { kind: "meta", field: token.text.slice(0, colon), pattern };
  }

  #type(token: Token): ResultType {
    const word = this.#word(token, ["filematch", "filename", "file", "repo"]);
    return word === "file" ? "filename" : word;
  }

  #word<const T extends string>(token: Token, words: readonly T[]): T {
    const found = words.find((word) => word === token.text);
    if (found !== undefined) return found;
    const given = JSON.stringify(token.text.slice(0, 40));
    throw this.#error(
      `${token.kind}: is one of ${words.join(", ")}, not ${given}`,
      token.origins[0] ?? token.at,
    );
  }

  #error(problem: string, at: number): QueryError {
    return new QueryError(problem, this.#text, at);
  }
}

/** Of several types in one group the most detailed counts. */
function narrower(one: ResultType | undefined, other: ResultType): ResultType {
  const order: readonly ResultType[] = ["filematch", "filename", "repo"];
  return one !== undefined && order.indexOf(one) < order.indexOf(other) ? one : other;
}

/** What an inner group has said for itself stays. */
function setCase(draft: Draft, mode: CaseMode): void {
  if (draft.kind === "open") draft.mode ??= mode;
  else if (draft.kind === "and" || draft.kind === "or")
    for (const child of draft.children) setCase(child, mode);
  else if (draft.kind === "not" || draft.kind === "type") setCase(draft.child, mode);
}

function settle(draft: Draft): Query {
  switch (draft.kind) {
    case "open": {
      const { mode = "auto", atom, uppercase, symbol } = draft;
      const expression: TextAtom = {
        ...atom,
        caseSensitive: mode === "auto" ? uppercase : mode === "yes",
      };
      return symbol ? { kind: "symbol", expression } : expression;
    }
    case "and":
    case "or":
      return { kind: draft.kind, children: draft.children.map(settle) };
    case "not":
      return { kind: "not", child: settle(draft.child) };
    case "type":
      return { kind: "type", type: draft.type, child: settle(draft.child) };
    default:
      return draft;
  }
}

/** A regular expression that matches just this text. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
