/**
 * Turns an expression into a function of a row, once per statement, and says its type. Null is unknown, as in SQL: comparisons with it are null, and only TRUE
 * keeps a row. Types that cannot be compared are refused before anything is read.
 */
import { functionOf } from "./functions.ts";
import { likePattern } from "./like-pattern.ts";
import { invalid } from "./sql-error.ts";
import { shownText, textOf, type BinaryOp, type ColumnType, type Expression, type Value } from "./syntax.ts";

export type Row = readonly Value[];

export interface Compiled {
  readonly type: ColumnType;
  readonly read: (row: Row) => Value;
}

/** Where names lead to. */
export interface Scope {
  column(name: string, table: string | undefined): Compiled;
  readonly parameters: readonly Value[];
  /** An expression that stands for a value of its own, because rows were grouped by it or it is an aggregate. */
  known?(expression: Expression): Compiled | undefined;
}

const NUMBERS: ReadonlySet<ColumnType> = new Set(["Int64", "UInt64", "UInt32", "UInt8", "Float64"]);

export function isNumber(type: ColumnType): boolean {
  return NUMBERS.has(type);
}

export function compile(expression: Expression, scope: Scope): Compiled {
  const known = scope.known?.(expression);
  if (known !== undefined) return known;
  switch (expression.kind) {
    case "literal":
      return constant(expression.value);
    case "parameter":
      return parameter(expression.number, scope.parameters);
    case "column":
      return scope.column(expression.name, expression.table);
    case "not": {
      const of = boolean(expression.of, scope);
      return { type: "Boolean", read: (row) => not(of.read(row)) };
    }
    case "minus": {
      const of = numeric(expression.of, scope);
      return {
        type: of.type === "Float64" ? "Float64" : "Int64",
        read: (row) => onNumber(of.read(row), (value) => -value),
      };
    }
    case "binary":
      return binary(expression.op, expression.left, expression.right, scope);
    case "in":
      return among(expression, scope);
    case "like":
      return like(expression, scope);
    case "isNull": {
      const of = compile(expression.of, scope);
      return { type: "Boolean", read: (row) => (of.read(row) === null) !== expression.negated };
    }
    case "cast":
      return cast(compile(expression.of, scope), expression.to);
    case "element": {
      const of = compile(expression.of, scope);
      const key = compile(expression.key, scope);
      if (of.type !== "Map") throw invalid(`${textOf(expression.of)} is no map`);
      return { type: "Utf8", read: (row) => elementOf(of.read(row), key.read(row)) };
    }
    case "case":
      return choice(expression, scope);
    case "call":
      return functionOf(
        expression.name,
        expression.args.map((each) => compile(each, scope)),
      );
  }
}

export function constant(value: Value): Compiled {
  return { type: typeOf(value), read: () => value };
}

function typeOf(value: Value): ColumnType {
  if (value === null) return "Null";
  if (typeof value === "string") return "Utf8";
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "Int64" : "Float64";
  return Array.isArray(value) ? "List" : "Map";
}

function parameter(number: number, parameters: readonly Value[]): Compiled {
  const value = parameters[number - 1];
  if (value === undefined)
    throw invalid(`the statement has a placeholder $${number}, and ${parameters.length} values were given`);
  return constant(value);
}

function binary(op: BinaryOp, left: Expression, right: Expression, scope: Scope): Compiled {
  switch (op) {
    case "and":
    case "or": {
      const [a, b] = [boolean(left, scope), boolean(right, scope)];
      // The value that decides alone.
      const deciding = op === "or";
      return {
        type: "Boolean",
        read(row) {
          const first = a.read(row);
          if (first === deciding) return deciding;
          const second = b.read(row);
          if (second === deciding) return deciding;
          return first === null || second === null ? null : !deciding;
        },
      };
    }
    case "||": {
      const [a, b] = [compile(left, scope), compile(right, scope)];
      return {
        type: "Utf8",
        read(row) {
          const [first, second] = [a.read(row), b.read(row)];
          return first === null || second === null ? null : shownText(first) + shownText(second);
        },
      };
    }
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return arithmetic(op, numeric(left, scope), numeric(right, scope));
    default:
      return comparison(op, compile(left, scope), compile(right, scope));
  }
}

function arithmetic(op: "+" | "-" | "*" | "/" | "%", a: Compiled, b: Compiled): Compiled {
  const type = a.type === "Float64" || b.type === "Float64" ? "Float64" : "Int64";
  const work = (x: number, y: number): number | null => {
    if (op === "+") return x + y;
    if (op === "-") return x - y;
    if (op === "*") return x * y;
    if (y === 0 && type === "Int64") throw invalid("divided by zero");
    const quotient = op === "/" ? x / y : x % y;
    return type === "Int64" ? Math.trunc(quotient) : quotient;
  };
  return {
    type,
    read(row) {
      const [x, y] = [a.read(row), b.read(row)];
      return typeof x === "number" && typeof y === "number" ? work(x, y) : null;
    },
  };
}

function comparison(op: BinaryOp, a: Compiled, b: Compiled): Compiled {
  checkComparable(a.type, b.type);
  const holds = (order: number): boolean => {
    if (op === "=") return order === 0;
    if (op === "<>") return order !== 0;
    if (op === "<") return order < 0;
    if (op === "<=") return order <= 0;
    return op === ">" ? order > 0 : order >= 0;
  };
  return {
    type: "Boolean",
    read(row) {
      const [x, y] = [a.read(row), b.read(row)];
      return x === null || y === null ? null : holds(compareValues(x, y));
    },
  };
}

function among(expression: Extract<Expression, { kind: "in" }>, scope: Scope): Compiled {
  const of = compile(expression.of, scope);
  const all = expression.among.map((each) => compile(each, scope));
  for (const each of all) checkComparable(of.type, each.type);
  return {
    type: "Boolean",
    read(row) {
      const value = of.read(row);
      if (value === null) return null;
      let sawNull = false;
      for (const each of all) {
        const other = each.read(row);
        if (other === null) sawNull = true;
        else if (compareValues(value, other) === 0) return !expression.negated;
      }
      return sawNull ? null : expression.negated;
    },
  };
}

function like(expression: Extract<Expression, { kind: "like" }>, scope: Scope): Compiled {
  const of = compile(expression.of, scope);
  const pattern = compile(expression.pattern, scope);
  if (of.type !== "Utf8" && of.type !== "Null") throw invalid(`LIKE needs a text, not ${of.type}`);
  const matches = likePattern(expression.foldsCase);
  return {
    type: "Boolean",
    read(row) {
      const [text, wanted] = [of.read(row), pattern.read(row)];
      if (typeof text !== "string" || typeof wanted !== "string") return null;
      return matches(text, wanted) !== expression.negated;
    },
  };
}

function cast(of: Compiled, to: ColumnType): Compiled {
  return { type: to, read: (row) => converted(of.read(row), to) };
}

function converted(value: Value, to: ColumnType): Value {
  if (value === null) return null;
  if (to === "Utf8") return shownText(value);
  if (to === "Boolean") {
    if (value === "true" || value === "false") return value === "true";
    return typeof value === "number" ? value !== 0 : value === true;
  }
  const number = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
  if (Number.isNaN(number)) throw invalid(`${JSON.stringify(value)} is no number`);
  return to === "Float64" ? number : Math.trunc(number);
}

function choice({ whens, otherwise }: Extract<Expression, { kind: "case" }>, scope: Scope): Compiled {
  const arms = whens.map(({ when, gives }) => ({
    when: boolean(when, scope),
    gives: compile(gives, scope),
  }));
  const last = compile(otherwise, scope);
  const type = [...arms.map(({ gives }) => gives), last].find((each) => each.type !== "Null")?.type ?? "Null";
  return {
    type,
    read: (row) => (arms.find(({ when }) => when.read(row) === true)?.gives ?? last).read(row),
  };
}

export function boolean(expression: Expression, scope: Scope): Compiled {
  const compiled = compile(expression, scope);
  if (compiled.type !== "Boolean" && compiled.type !== "Null")
    throw invalid(`${textOf(expression)} is ${compiled.type}, and a condition is needed there`);
  return compiled;
}

function numeric(expression: Expression, scope: Scope): Compiled {
  const compiled = compile(expression, scope);
  if (!isNumber(compiled.type) && compiled.type !== "Null")
    throw invalid(`${textOf(expression)} is ${compiled.type}, and a number is needed there`);
  return compiled;
}

function not(value: Value): Value {
  return value === null ? null : value !== true;
}

function onNumber(value: Value, work: (value: number) => number): Value {
  return typeof value === "number" ? work(value) : null;
}

function elementOf(map: Value, key: Value): Value {
  if (map === null || typeof map !== "object" || Array.isArray(map) || typeof key !== "string") return null;
  return Object.hasOwn(map, key) ? ((map as Record<string, string>)[key] ?? null) : null;
}

function checkComparable(a: ColumnType, b: ColumnType): void {
  const isSame = a === b || a === "Null" || b === "Null" || (isNumber(a) && isNumber(b));
  if (!isSame || a === "Map" || a === "List") throw invalid(`cannot compare ${a} with ${b}`);
}

/** Of two values that are not null, of types that can be compared. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return Number(a) - Number(b);
}
