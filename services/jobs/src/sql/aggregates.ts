/** count, sum, avg, min and max, of the rows of a group. Nulls are left out; of nothing, all but count are null. */
import { compareValues, isNumber, type Compiled } from "./compile.ts";
import { invalid, SqlError } from "./sql-error.ts";
import type { ColumnType, Expression, Value } from "./syntax.ts";

export type AggregateCall = Extract<Expression, { kind: "call" }>;

const NAMES: ReadonlySet<string> = new Set(["count", "sum", "avg", "min", "max"]);
const DISTINCT_MAX = 100_000;

export function isAggregate(expression: Expression): expression is AggregateCall {
  return expression.kind === "call" && NAMES.has(expression.name);
}

export interface Aggregate {
  add(value: Value): void;
  result(): Value;
}

export function aggregateType({ name }: AggregateCall, argument: Compiled | undefined): ColumnType {
  if (name === "count") return "Int64";
  if (argument === undefined) throw invalid(`${name} takes one argument`);
  if (name === "min" || name === "max") return argument.type;
  if (!isNumber(argument.type) && argument.type !== "Null")
    throw invalid(`${name} needs numbers, not ${argument.type}`);
  if (name === "avg" || argument.type === "Float64") return "Float64";
  return argument.type === "Int64" ? "Int64" : "UInt64";
}

export function startAggregate({ name, args, distinct }: AggregateCall): Aggregate {
  const made = plain(name, args.length === 0);
  if (!distinct) return made;
  const seen = new Set<Value>();
  return {
    add(value) {
      if (seen.has(value)) return;
      if (seen.size >= DISTINCT_MAX)
        throw new SqlError("SQL_TOO_LARGE", `more than ${DISTINCT_MAX} distinct values`);
      seen.add(value);
      made.add(value);
    },
    result: () => made.result(),
  };
}

function plain(name: string, countsRows: boolean): Aggregate {
  let count = 0;
  let kept: Value = null;
  const add = (value: Value): void => {
    if (value === null) {
      if (countsRows) count += 1;
      return;
    }
    count += 1;
    if (name === "sum" || name === "avg") kept = Number(kept) + Number(value);
    else if (name !== "count") {
      const order = kept === null ? 0 : compareValues(value, kept);
      if (kept === null || (name === "min" ? order < 0 : order > 0)) kept = value;
    }
  };
  return {
    add,
    result() {
      if (name === "count") return count;
      return name === "avg" && kept !== null ? Number(kept) / count : kept;
    },
  };
}
