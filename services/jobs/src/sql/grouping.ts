/** GROUP BY: rows of equal keys become one, which holds the keys and the aggregates that the statement asks for. */
import {
  aggregateType,
  isAggregate,
  startAggregate,
  type Aggregate,
  type AggregateCall,
} from "./aggregates.ts";
import { compile, type Compiled, type Row, type Scope } from "./compile.ts";
import { invalid, SqlError } from "./sql-error.ts";
import { textOf, type Expression, type Value } from "./syntax.ts";

const GROUPS_MAX = 100_000;

export class Grouping {
  readonly #scope: Scope;
  readonly #keys: readonly Compiled[];
  readonly #slots = new Map<string, Compiled>();
  readonly #calls: { readonly call: AggregateCall; readonly argument: Compiled | undefined }[] = [];

  /** `scope` is that of the table's rows. */
  constructor(keys: readonly Expression[], scope: Scope) {
    this.#scope = scope;
    this.#keys = keys.map((key) => compile(key, scope));
    for (const [at, key] of keys.entries())
      this.#slots.set(textOf(key), { type: this.#keys[at]!.type, read: (row) => row[at] ?? null });
  }

  /** The scope of grouped rows. Aggregates that are met while compiling in it are counted from then on. */
  get scope(): Scope {
    return {
      parameters: this.#scope.parameters,
      column: (name) => {
        throw invalid(`the column ${name} must be in GROUP BY or in an aggregate`);
      },
      known: (expression) => this.#slots.get(textOf(expression)) ?? this.#aggregate(expression),
    };
  }

  async *rows(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
    const groups = new Map<string, { readonly keys: readonly Value[]; readonly aggregates: Aggregate[] }>();
    // Without keys there is one group, even of no rows.
    if (this.#keys.length === 0) groups.set("[]", { keys: [], aggregates: this.#start() });
    for await (const row of rows) {
      const keys = this.#keys.map((key) => key.read(row));
      const name = JSON.stringify(keys);
      let group = groups.get(name);
      if (group === undefined) {
        if (groups.size >= GROUPS_MAX) throw new SqlError("SQL_TOO_LARGE", `more than ${GROUPS_MAX} groups`);
        group = { keys, aggregates: this.#start() };
        groups.set(name, group);
      }
      for (const [at, { argument }] of this.#calls.entries())
        group.aggregates[at]!.add(argument?.read(row) ?? null);
    }
    for (const { keys, aggregates } of groups.values())
      yield [...keys, ...aggregates.map((each) => each.result())];
  }

  #start(): Aggregate[] {
    return this.#calls.map(({ call }) => startAggregate(call));
  }

  #aggregate(expression: Expression): Compiled | undefined {
    if (!isAggregate(expression)) return undefined;
    if (expression.args.length > 1) throw invalid(`${expression.name} takes one argument`);
    const [given] = expression.args;
    const argument = given === undefined ? undefined : compile(given, this.#scope);
    const at = this.#keys.length + this.#calls.length;
    const made: Compiled = { type: aggregateType(expression, argument), read: (row) => row[at] ?? null };
    this.#calls.push({ call: expression, argument });
    this.#slots.set(textOf(expression), made);
    return made;
  }
}

/** Whether an aggregate is anywhere in it. */
export function hasAggregate(expression: Expression): boolean {
  return isAggregate(expression) || partsOf(expression).some(hasAggregate);
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "literal":
    case "parameter":
    case "column":
      return [];
    case "not":
    case "minus":
    case "isNull":
    case "cast":
      return [expression.of];
    case "binary":
      return [expression.left, expression.right];
    case "in":
      return [expression.of, ...expression.among];
    case "like":
      return [expression.of, expression.pattern];
    case "element":
      return [expression.of, expression.key];
    case "case":
      return [...expression.whens.flatMap(({ when, gives }) => [when, gives]), expression.otherwise];
    case "call":
      return expression.args;
  }
}
