/** Answers SQL about a shard: a few statements at a time, each for a bounded time, and between rows everybody else has a turn. */
import type { Clock } from "@keelson/kernel";
import { rowBytes, SqlError, Statement, type Column, type Row, type Value } from "../sql/index.ts";
import type { DurableQueue } from "../storage/durable-queue.ts";
import { rowsOf } from "./query-tables.ts";

export interface QueryAsk {
  readonly sql: string;
  readonly parameters: readonly Value[];
  /** Left out: all tenants. */
  readonly tenants?: readonly string[] | undefined;
}

/** The first item has the columns, the others rows. */
export type QueryItem = { readonly columns: readonly Column[] } | { readonly rows: readonly Row[] };

const STATEMENTS_MAX = 8;
const STATEMENT_MS = 5_000;
const BATCH_ROWS = 500;
const BATCH_BYTES = 1024 * 1024;
/** Rows between two looks at the clock. */
const TURN_ROWS = 250;

export interface QueryDeskOptions {
  readonly shard: string;
  readonly queue: DurableQueue;
  readonly clock: Clock;
  readonly holds: (tenant: string) => boolean;
}

export class QueryDesk {
  readonly #options: QueryDeskOptions;
  #running = 0;

  constructor(options: QueryDeskOptions) {
    this.#options = options;
  }

  /** Throws SqlError. */
  async *run({ sql, parameters, tenants }: QueryAsk): AsyncGenerator<QueryItem, void> {
    const { shard, queue, clock, holds } = this.#options;
    if (this.#running >= STATEMENTS_MAX)
      throw new SqlError(
        "SQL_BUSY",
        `shard ${shard} has ${STATEMENTS_MAX} statements already in flight (max_concurrent_statements)`,
      );
    this.#running += 1;
    try {
      const statement = new Statement(sql, parameters);
      yield { columns: statement.columns };
      const shows = (tenant: string): boolean =>
        holds(tenant) && (tenants === undefined || tenants.includes(tenant));
      const untilMs = clock.now() + STATEMENT_MS;
      const inTurns = <T>(things: AsyncIterable<T> | Iterable<T>): AsyncIterable<T> =>
        this.#inTurns(things, untilMs);
      const source = { shard, queue, nowMs: clock.wall(), shows, inTurns };
      let rows: Row[] = [];
      let bytes = 0;
      for await (const row of statement.run(rowsOf(statement, source))) {
        rows.push(row);
        bytes += rowBytes(row);
        if (rows.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
        yield { rows };
        [rows, bytes] = [[], 0];
      }
      if (rows.length > 0) yield { rows };
    } finally {
      this.#running -= 1;
    }
  }

  async *#inTurns<T>(things: AsyncIterable<T> | Iterable<T>, untilMs: number): AsyncGenerator<T> {
    const { clock } = this.#options;
    let count = 0;
    for await (const thing of things) {
      if (++count % TURN_ROWS === 0) {
        await new Promise<void>((resolve) => void clock.after(0, resolve));
        if (clock.now() > untilMs)
          throw new SqlError("SQL_TIMEOUT", `Query exceeded statement timeout of ${STATEMENT_MS} ms`);
      }
      yield thing;
    }
  }
}
