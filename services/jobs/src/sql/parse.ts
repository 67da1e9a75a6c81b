/** Reads one SELECT over one table. What SQL has beyond that is named in the failure, so that its writer knows that it was understood and is not there. */
import { invalid, unsupported, type SqlError } from "./sql-error.ts";
import type { BinaryOp, ColumnType, Expression, Item, Order, Select } from "./syntax.ts";
import { tokensOf, type Token } from "./tokens.ts";

const DEPTH_MAX = 100;
const BINDING: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  "=": 4,
  "<>": 4,
  "!=": 4,
  "<": 4,
  "<=": 4,
  ">": 4,
  ">=": 4,
  is: 4,
  in: 4,
  like: 4,
  ilike: 4,
  between: 4,
  not: 4,
  "+": 5,
  "-": 5,
  "||": 5,
  "*": 6,
  "/": 6,
  "%": 6,
  "::": 8,
  "[": 8,
};
const TYPES: Readonly<Record<string, ColumnType>> = {
  text: "Utf8",
  varchar: "Utf8",
  string: "Utf8",
  char: "Utf8",
  int: "Int64",
  integer: "Int64",
  bigint: "Int64",
  smallint: "Int64",
  double: "Float64",
  float: "Float64",
  real: "Float64",
  boolean: "Boolean",
  bool: "Boolean",
};
/** Words that end an expression, so they cannot be an alias without AS. */
const CLAUSES = new Set(
  "from where group having order limit offset union intersect except join inner left right full cross natural on using window for fetch as asc desc nulls then else end when and or not in is like ilike between".split(
    " ",
  ),
);
const JOINS = new Set(["join", "inner", "left", "right", "full", "cross", "natural"]);

/** Throws SqlError. */
export function parse(sql: string): Select {
  return new Parser(tokensOf(sql)).statement();
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  statement(): Select {
    if (this.#isWord("with")) throw unsupported("WITH is");
    if (this.#isWord("explain")) throw unsupported("EXPLAIN is");
    if (!this.#takeWord("select")) {
      const { kind, text } = this.#next;
      if (kind === "word" && text !== "select")
        throw unsupported(`only SELECT is known: ${text.toUpperCase()} is`);
      throw this.#unexpected("SELECT");
    }
    const distinct = this.#takeWord("distinct");
    const items = this.#list(() => this.#item());
    this.#expectWord("from");
    const { table, alias } = this.#table();
    const where = this.#takeWord("where") ? this.#expression() : undefined;
    const groupBy = this.#takeWord("group")
      ? (this.#expectWord("by"), this.#list(() => this.#expression()))
      : [];
    const having = this.#takeWord("having") ? this.#expression() : undefined;
    const orderBy = this.#takeWord("order") ? (this.#expectWord("by"), this.#list(() => this.#order())) : [];
    let [limit, offset]: (Expression | undefined)[] = [];
    for (;;)
      if (limit === undefined && this.#takeWord("limit")) limit = this.#expression();
      else if (offset === undefined && this.#takeWord("offset")) offset = this.#expression();
      else break;
    for (const word of ["union", "intersect", "except", "window", "fetch", "for"])
      if (this.#isWord(word)) throw unsupported(`${word.toUpperCase()} is`);
    this.#takeSign(";");
    if (this.#next.kind !== "end") throw this.#unexpected("the end");
    return { distinct, items, table, alias, where, groupBy, having, orderBy, limit, offset };
  }

  #table(): { table: string; alias: string } {
    if (this.#isSign("(")) throw unsupported("a subquery is");
    const table = this.#name("a table");
    const named = this.#takeWord("as") || this.#isAlias();
    const alias = named ? this.#name("an alias") : table;
    if (this.#isSign(",") || (this.#next.kind === "word" && JOINS.has(this.#next.text)))
      throw unsupported("more than one table is");
    return { table, alias };
  }

  #item(): Item {
    if (this.#takeSign("*")) return { expression: undefined, alias: undefined };
    const expression = this.#expression();
    const named = this.#takeWord("as") || this.#isAlias();
    return { expression, alias: named ? this.#name("an alias") : undefined };
  }

  #order(): Order {
    const by = this.#expression();
    const descending = this.#takeWord("desc");
    if (!descending) this.#takeWord("asc");
    if (!this.#takeWord("nulls")) return { by, descending, nullsFirst: descending };
    const nullsFirst = this.#takeWord("first");
    if (!nullsFirst) this.#expectWord("last");
    return { by, descending, nullsFirst };
  }

  #expression(binding = 0): Expression {
    if (++this.#depth > DEPTH_MAX) throw invalid(`an expression is nested more than ${DEPTH_MAX} deep`);
    let left = this.#prefix();
    for (;;) {
      const { kind, text } = this.#next;
      const next = kind === "word" || kind === "sign" ? BINDING[text] : undefined;
      if (next === undefined || next <= binding) break;
      left = this.#infix(left, next);
    }
    this.#depth -= 1;
    return left;
  }

  #prefix(): Expression {
    const token = this.#next;
    this.#at += 1;
    switch (token.kind) {
      case "number": {
        const value: Expression = { kind: "literal", value: Number(token.text) };
        return /^\d+$/.test(token.text) ? value : { kind: "cast", of: value, to: "Float64" };
      }
      case "text":
        return { kind: "literal", value: token.text };
      case "parameter":
        return { kind: "parameter", number: Number(token.text) };
      case "quoted":
        return this.#column(token.text);
      case "word":
        return this.#word(token);
      case "sign":
        if (token.text === "-") return { kind: "minus", of: this.#expression(7) };
        if (token.text === "(") return this.#inParentheses();
        break;
      case "end":
    }
    this.#at -= 1;
    throw this.#unexpected("an expression");
  }

  #inParentheses(): Expression {
    if (this.#isWord("select")) throw unsupported("a subquery is");
    const inner = this.#expression();
    this.#expectSign(")");
    return inner;
  }

  #word({ text }: Token): Expression {
    switch (text) {
      case "null":
        return { kind: "literal", value: null };
      case "true":
      case "false":
        return { kind: "literal", value: text === "true" };
      case "not":
        return { kind: "not", of: this.#expression(3) };
      case "case":
        return this.#case();
      case "exists":
        throw unsupported("EXISTS is");
      case "cast": {
        this.#expectSign("(");
        const of = this.#expression();
        this.#expectWord("as");
        const to = this.#type();
        this.#expectSign(")");
        return { kind: "cast", of, to };
      }
    }
    if (CLAUSES.has(text)) {
      this.#at -= 1;
      throw this.#unexpected("an expression");
    }
    return this.#takeSign("(") ? this.#call(text) : this.#column(text);
  }

  #column(name: string): Expression {
    if (!this.#takeSign(".")) return { kind: "column", table: undefined, name };
    return { kind: "column", table: name, name: this.#name("a column") };
  }

  #call(name: string): Expression {
    const distinct = this.#takeWord("distinct");
    let args: readonly Expression[] = [];
    if (name === "count" && this.#takeSign("*")) this.#expectSign(")");
    else if (!this.#takeSign(")")) {
      args = this.#list(() => this.#expression());
      this.#expectSign(")");
    } else if (name === "count") throw invalid("count needs * or an expression");
    if (this.#isWord("over")) throw unsupported("a window function is");
    return { kind: "call", name, args, distinct };
  }

  #case(): Expression {
    const of = this.#isWord("when") ? undefined : this.#expression();
    const whens: { when: Expression; gives: Expression }[] = [];
    while (this.#takeWord("when")) {
      const said = this.#expression();
      const when: Expression = of === undefined ? said : { kind: "binary", op: "=", left: of, right: said };
      this.#expectWord("then");
      whens.push({ when, gives: this.#expression() });
    }
    const otherwise: Expression = this.#takeWord("else")
      ? this.#expression()
      : { kind: "literal", value: null };
    this.#expectWord("end");
    return { kind: "case", whens, otherwise };
  }

  #infix(left: Expression, binding: number): Expression {
    const { text } = this.#next;
    this.#at += 1;
    switch (text) {
      case "::":
        return { kind: "cast", of: left, to: this.#type() };
      case "[": {
        const key = this.#expression();
        this.#expectSign("]");
        return { kind: "element", of: left, key };
      }
      case "is": {
        const negated = this.#takeWord("not");
        this.#expectWord("null");
        return { kind: "isNull", of: left, negated };
      }
      case "not":
        return this.#membership(left, true);
      case "in":
      case "like":
      case "ilike":
      case "between":
        this.#at -= 1;
        return this.#membership(left, false);
    }
    const op = (text === "!=" ? "<>" : text) as BinaryOp;
    return { kind: "binary", op, left, right: this.#expression(binding) };
  }

  #membership(of: Expression, negated: boolean): Expression {
    if (this.#takeWord("in")) {
      this.#expectSign("(");
      if (this.#isWord("select")) throw unsupported("a subquery is");
      const among = this.#list(() => this.#expression());
      this.#expectSign(")");
      return { kind: "in", of, among, negated };
    }
    if (this.#takeWord("between")) {
      const low = this.#expression(4);
      this.#expectWord("and");
      const high = this.#expression(4);
      const least: Expression = { kind: "binary", op: ">=", left: of, right: low };
      const most: Expression = { kind: "binary", op: "<=", left: of, right: high };
      const both: Expression = { kind: "binary", op: "and", left: least, right: most };
      return negated ? { kind: "not", of: both } : both;
    }
    const foldsCase = this.#takeWord("ilike");
    if (!foldsCase) this.#expectWord("like");
    return { kind: "like", of, pattern: this.#expression(4), negated, foldsCase };
  }

  #type(): ColumnType {
    const name = this.#name("a type");
    if (name === "double") this.#takeWord("precision");
    const type = TYPES[name];
    if (type === undefined) throw unsupported(`the type ${name} is`);
    if (this.#takeSign("(")) {
      this.#expression();
      this.#expectSign(")");
    }
    return type;
  }

  #list<T>(read: () => T): T[] {
    const found = [read()];
    while (this.#takeSign(",")) found.push(read());
    return found;
  }

  get #next(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #isAlias(): boolean {
    const { kind, text } = this.#next;
    return kind === "quoted" || (kind === "word" && !CLAUSES.has(text));
  }

  #name(what: string): string {
    const { kind, text } = this.#next;
    if (kind !== "word" && kind !== "quoted") throw this.#unexpected(what);
    this.#at += 1;
    return text;
  }

  #isWord(word: string): boolean {
    return this.#next.kind === "word" && this.#next.text === word;
  }

  #isSign(sign: string): boolean {
    return this.#next.kind === "sign" && this.#next.text === sign;
  }

  #takeWord(word: string): boolean {
    const is = this.#isWord(word);
    if (is) this.#at += 1;
    return is;
  }

  #takeSign(sign: string): boolean {
    const is = this.#isSign(sign);
    if (is) this.#at += 1;
    return is;
  }

  #expectWord(word: string): void {
    if (!this.#takeWord(word)) throw this.#unexpected(word.toUpperCase());
  }

  #expectSign(sign: string): void {
    if (!this.#takeSign(sign)) throw this.#unexpected(sign);
  }

  #unexpected(wanted: string): SqlError {
    const { text, at } = this.#next;
    return invalid(`expected ${wanted}, found ${text} at character ${at}`);
  }
}
