/**
 * A SELECT that is ready to run over a table's rows: filter, group, project, make distinct, order, cut. It reads rows one by one and stops reading as soon as it
 * has what LIMIT asks for. It knows nothing of shards.
 */
import { boolean, compile, constant, type Compiled, type Row, type Scope } from "./compile.ts";
import { Grouping, hasAggregate } from "./grouping.ts";
import { inOrder, type OrderTerm } from "./ordering.ts";
import { parse } from "./parse.ts";
import { invalid, SqlError } from "./sql-error.ts";
import { textOf, type Expression, type Select, type Value } from "./syntax.ts";
import { isTable, TABLES, type Column, type TableName } from "./tables.ts";

const DISTINCT_MAX = 100_000;

interface Output extends Column {
  readonly expression: Expression;
}

export class Statement {
  readonly table: TableName;
  readonly columns: readonly Column[];
  /** What WHERE says that certain columns must be: no other row counts. */
  readonly equals: ReadonlyMap<string, Value>;
  /** Columns that it looks at; others need no value. */
  readonly reads: ReadonlySet<string>;
  readonly #select: Select;
  readonly #where: Compiled | undefined;
  readonly #grouping: Grouping | undefined;
  readonly #having: Compiled | undefined;
  readonly #outputs: readonly Compiled[];
  readonly #order: readonly OrderTerm[];
  readonly #limit: number;
  readonly #offset: number;

  /** Throws SqlError. */
  constructor(sql: string, parameters: readonly Value[]) {
    const select = parse(sql);
    if (!isTable(select.table))
      throw invalid(`table '${select.table}' not found: there are ${Object.keys(TABLES).join(", ")}`);
    this.table = select.table;
    this.#select = select;
    const reads = new Set<string>();
    this.reads = reads;
    const scope = tableScope(select.table, select.alias, parameters, reads);
    const outputs = select.items.flatMap((item) => outputsOf(item, select));
    const expressions = [
      ...outputs.map(({ expression }) => expression),
      ...select.orderBy.map(({ by }) => by),
    ];
    const isGrouped =
      select.groupBy.length > 0 || select.having !== undefined || expressions.some(hasAggregate);
    if (select.where !== undefined && hasAggregate(select.where)) throw invalid("WHERE has no aggregates");
    this.#where = select.where && boolean(select.where, scope);
    const keys = select.groupBy.map((key) => resolved(key, outputs));
    this.#grouping = isGrouped ? new Grouping(keys, scope) : undefined;
    const inner = this.#grouping?.scope ?? scope;
    this.#having = select.having && boolean(select.having, inner);
    this.#outputs = outputs.map(({ expression }) => compile(expression, inner));
    this.columns = outputs.map(({ name }, at) => ({ name, type: this.#outputs[at]!.type }));
    this.#order = select.orderBy.map(({ by, ...how }) => ({
      ...how,
      by: compile(resolved(by, outputs), inner),
    }));
    this.#limit = wholeOf("LIMIT", select.limit, parameters) ?? Infinity;
    this.#offset = wholeOf("OFFSET", select.offset, parameters) ?? 0;
    this.equals = new Map(equalities(select.where, parameters));
  }

  async *run(source: AsyncIterable<Row>): AsyncGenerator<Row> {
    const kept = this.#filtered(source);
    const grouped = this.#grouping === undefined ? kept : this.#having_(this.#grouping.rows(kept));
    const wanted = this.#limit + this.#offset;
    // Equal rows have to be told apart before they are counted.
    const ordered =
      this.#order.length === 0
        ? grouped
        : await inOrder(grouped, this.#order, this.#select.distinct ? Infinity : wanted);
    let seen = 0;
    if (wanted === 0) return;
    for await (const row of this.#distinct(ordered)) {
      if (++seen > this.#offset) yield row;
      if (seen >= wanted) return;
    }
  }

  async *#filtered(source: AsyncIterable<Row>): AsyncGenerator<Row> {
    for await (const row of source)
      if (this.#where === undefined || this.#where.read(row) === true) yield row;
  }

  async *#having_(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
    for await (const row of rows)
      if (this.#having === undefined || this.#having.read(row) === true) yield row;
  }

  async *#distinct(rows: AsyncIterable<Row> | Iterable<Row>): AsyncGenerator<Row> {
    const seen = new Set<string>();
    for await (const row of rows) {
      const output = this.#outputs.map((each) => each.read(row));
      if (this.#select.distinct) {
        const name = JSON.stringify(output);
        if (seen.has(name)) continue;
        if (seen.size >= DISTINCT_MAX)
          throw new SqlError("SQL_TOO_LARGE", `more than ${DISTINCT_MAX} distinct rows`);
        seen.add(name);
      }
      yield output;
    }
  }
}

function tableScope(
  table: TableName,
  alias: string,
  parameters: readonly Value[],
  reads: Set<string>,
): Scope {
  const columns: readonly Column[] = TABLES[table];
  return {
    parameters,
    column(name, of) {
      const at = columns.findIndex((each) => each.name === name);
      if (at < 0 || (of !== undefined && of !== alias && of !== table))
        throw invalid(`no field named ${of === undefined ? "" : `${of}.`}${name} in ${table}`);
      reads.add(name);
      return { type: columns[at]!.type, read: (row) => row[at] ?? null };
    },
  };
}

function outputsOf({ expression, alias }: Select["items"][number], { table }: Select): Output[] {
  if (expression !== undefined) return [{ name: alias ?? textOf(expression), type: "Null", expression }];
  const columns: readonly Column[] = TABLES[table as TableName];
  return columns.map(({ name, type }) => ({
    name,
    type,
    expression: { kind: "column", table: undefined, name },
  }));
}

/** GROUP BY and ORDER BY may name an output by its place or its alias. */
function resolved(expression: Expression, outputs: readonly Output[]): Expression {
  if (expression.kind === "literal" && typeof expression.value === "number") {
    const output = outputs[expression.value - 1];
    if (output === undefined) throw invalid(`there is no output ${expression.value}`);
    return output.expression;
  }
  if (expression.kind !== "column" || expression.table !== undefined) return expression;
  return outputs.find(({ name }) => name === expression.name)?.expression ?? expression;
}

function wholeOf(
  what: string,
  expression: Expression | undefined,
  parameters: readonly Value[],
): number | undefined {
  if (expression === undefined) return undefined;
  const scope: Scope = {
    parameters,
    column: () => {
      throw invalid(`${what} is a number`);
    },
  };
  const value = compile(expression, scope).read([]);
  if (value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw invalid(`${what} is a whole number, 0 or more`);
  return value;
}

/** `column = constant` among what must hold together. */
function* equalities(
  expression: Expression | undefined,
  parameters: readonly Value[],
): Generator<[string, Value]> {
  if (expression?.kind !== "binary") return;
  const { op, left, right } = expression;
  if (op === "and") {
    yield* equalities(left, parameters);
    yield* equalities(right, parameters);
  } else if (op === "=" && left.kind === "column") {
    const value = fixed(right, parameters);
    if (value !== undefined) yield [left.name, value];
  } else if (op === "=" && right.kind === "column") {
    const value = fixed(left, parameters);
    if (value !== undefined) yield [right.name, value];
  }
}

function fixed(expression: Expression, parameters: readonly Value[]): Value | undefined {
  if (expression.kind === "literal") return constant(expression.value).read([]);
  return expression.kind === "parameter" ? parameters[expression.number - 1] : undefined;
}
