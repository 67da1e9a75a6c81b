/** A statement as a tree. What it may say is in docs/reference/jobs.md; what it means is in `compile.ts`. */

/** Types have the names that Arrow gives them. `List` and `Map` hold texts. */
export type ColumnType =
  | "Utf8"
  | "Int64"
  | "UInt64"
  | "UInt32"
  | "UInt8"
  | "Float64"
  | "Boolean"
  | "Map"
  | "List"
  | "Null";

export type Value = string | number | boolean | null | readonly string[] | { readonly [key: string]: string };

export type BinaryOp =
  | "or"
  | "and"
  | "="
  | "<>"
  | "<"
  | "<="
  | ">"
  | ">="
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "||";

export type Expression =
  | { readonly kind: "literal"; readonly value: Value }
  /** `$1` is the first. */
  | { readonly kind: "parameter"; readonly number: number }
  | { readonly kind: "column"; readonly table: string | undefined; readonly name: string }
  | { readonly kind: "not" | "minus"; readonly of: Expression }
  | { readonly kind: "binary"; readonly op: BinaryOp; readonly left: Expression; readonly right: Expression }
  | {
      readonly kind: "in";
      readonly of: Expression;
      readonly among: readonly Expression[];
      readonly negated: boolean;
    }
  | {
      readonly kind: "like";
      readonly of: Expression;
      readonly pattern: Expression;
      readonly negated: boolean;
      readonly foldsCase: boolean;
    }
  | { readonly kind: "isNull"; readonly of: Expression; readonly negated: boolean }
  | { readonly kind: "cast"; readonly of: Expression; readonly to: ColumnType }
  | { readonly kind: "element"; readonly of: Expression; readonly key: Expression }
  | {
      readonly kind: "case";
      readonly whens: readonly { readonly when: Expression; readonly gives: Expression }[];
      readonly otherwise: Expression;
    }
  /** `count(*)` has no arguments. */
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: readonly Expression[];
      readonly distinct: boolean;
    };

export interface Item {
  /** Undefined: all columns. */
  readonly expression: Expression | undefined;
  readonly alias: string | undefined;
}

export interface Order {
  readonly by: Expression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface Select {
  readonly distinct: boolean;
  readonly items: readonly Item[];
  readonly table: string;
  /** What columns may be qualified with. */
  readonly alias: string;
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  readonly having: Expression | undefined;
  readonly orderBy: readonly Order[];
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
}

/** One text for one expression: the name of a column that was given none, and how equal expressions are known. */
export function textOf(expression: Expression): string {
  switch (expression.kind) {
    case "literal":
      return typeof expression.value === "string" ? `'${expression.value}'` : shownText(expression.value);
    case "parameter":
      return `$${expression.number}`;
    case "column":
      return expression.name;
    case "not":
      return `NOT ${textOf(expression.of)}`;
    case "minus":
      return `(- ${textOf(expression.of)})`;
    case "binary":
      return `${textOf(expression.left)} ${expression.op.toUpperCase()} ${textOf(expression.right)}`;
    case "in":
      return `${textOf(expression.of)}${negation(expression)} IN (${expression.among.map(textOf).join(", ")})`;
    case "like":
      return `${textOf(expression.of)}${negation(expression)} ${expression.foldsCase ? "ILIKE" : "LIKE"} ${textOf(expression.pattern)}`;
    case "isNull":
      return `${textOf(expression.of)} IS${negation(expression)} NULL`;
    case "cast":
      return `CAST(${textOf(expression.of)} AS ${expression.to})`;
    case "element":
      return `${textOf(expression.of)}[${textOf(expression.key)}]`;
    case "case": {
      const whens = expression.whens.map(({ when, gives }) => `WHEN ${textOf(when)} THEN ${textOf(gives)}`);
      return `CASE ${whens.join(" ")} ELSE ${textOf(expression.otherwise)} END`;
    }
    case "call": {
      const { name, args, distinct } = expression;
      const given = name === "count" && args.length === 0 ? "*" : args.map(textOf).join(", ");
      return `${name}(${distinct ? "DISTINCT " : ""}${given})`;
    }
  }
}

/** A value as text. */
export function shownText(value: Value): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function negation({ negated }: { readonly negated: boolean }): string {
  return negated ? " NOT" : "";
}
