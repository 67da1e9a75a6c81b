import { describe, expect, test } from "vitest";
import { Statement } from "./statement.ts";
import { SqlError } from "./sql-error.ts";
import type { Row } from "./compile.ts";
import type { Value } from "./syntax.ts";

/** shard, tenant, group, start, priority, job, attempt, variant, task, held. */
const TASKS: readonly Row[] = [
  ["0", "acme", "mail", 100, 5, "j1", 1, "RunAttempt", "t1", ""],
  ["0", "acme", "mail", 200, 50, "j2", 2, "RunAttempt", "t2", ""],
  ["0", "beta", "pdf", 300, 50, "j3", 1, "RequestTicket", "t3", "k"],
  ["0", "beta", "mail", 400, 99, "j_4%", 1, "CheckRateLimit", "t4", ""],
];
/** shard, tenant, id, priority, enqueued, payload, status, changed, group, attempt, next, metadata, limits. */
const JOBS: readonly Row[] = [
  ["0", "a", "x", 1, 10, "1", "Running", 11, "g", null, null, { env: "prod", region: "us-east" }, null],
  ["0", "a", "y", 2, 20, null, "Waiting", 21, "g", 1, 20, {}, null],
];

async function* each(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows;
}

async function run(sql: string, parameters: readonly Value[] = []): Promise<readonly Row[]> {
  const statement = new Statement(sql, parameters);
  const found: Row[] = [];
  for await (const row of statement.run(each(statement.table === "jobs" ? JOBS : TASKS))) found.push(row);
  return found;
}

describe("a statement gives", () => {
  test.each<[string, readonly Value[], readonly Row[]]>([
    ["select job_id from tasks", [], [["j1"], ["j2"], ["j3"], ["j_4%"]]],
    ["SELECT job_id FROM tasks t WHERE t.priority >= 10 AND tenant = 'beta'", [], [["j3"], ["j_4%"]]],
    ["select job_id from tasks where tenant = $1 and priority < $2", ["acme", 10], [["j1"]]],
    ["select job_id from tasks where job_id like 'j\\_4\\%'", [], [["j_4%"]]],
    ["select job_id from tasks where job_id like 'j_' and not priority between 6 and 60", [], [["j1"]]],
    [
      "select job_id from tasks where task_group ilike 'MA%' or 1 = 2 order by 1 desc limit 1",
      [],
      [["j_4%"]],
    ],
    [
      "select job_id from tasks where variant_type in ('RequestTicket', 'CheckRateLimit')",
      [],
      [["j3"], ["j_4%"]],
    ],
    ["select job_id from tasks where tenant not in ('acme') and held_queues <> ''", [], [["j3"]]],
    ["select count(*) from tasks", [], [[4]]],
    ["select count(*) from tasks where tenant = 'nobody'", [], [[0]]],
    [
      "select task_group, count(*) as n from tasks group by task_group order by n desc, 1",
      [],
      [
        ["mail", 3],
        ["pdf", 1],
      ],
    ],
    [
      "select tenant, task_group, avg(cast(priority as double)) from tasks group by tenant, task_group order by tenant, task_group",
      [],
      [
        ["acme", "mail", 27.5],
        ["beta", "mail", 99],
        ["beta", "pdf", 50],
      ],
    ],
    [
      "select min(job_id), max(priority), sum(attempt), count(distinct tenant) from tasks",
      [],
      [["j1", 99, 5, 2]],
    ],
    ["select tenant from tasks group by tenant having count(*) > 1 and max(priority) > 60", [], [["beta"]]],
    ["select distinct tenant from tasks order by tenant desc", [], [["beta"], ["acme"]]],
    ["select job_id from tasks order by priority desc, start_time_ms limit 2 offset 1", [], [["j2"], ["j3"]]],
    [
      "select priority + 1, priority * 2 - 1, 7 / 2, 7 % 4, 7.0 / 2, -priority from tasks limit 1",
      [],
      [[6, 9, 3, 3, 3.5, -5]],
    ],
    [
      "select case when priority < 10 then 'now' else 'later' end as w from tasks limit 2",
      [],
      [["now"], ["later"]],
    ],
    ["select case task_group when 'pdf' then 1 end from tasks where tenant = 'beta'", [], [[1], [null]]],
    [
      "select lower('ÄB') || upper('c') || length('abc'), coalesce(null, 'x') from tasks limit 1",
      [],
      [["äbC3", "x"]],
    ],
    ["select priority::text || '!' from tasks limit 1", [], [["5!"]]],
    ["select id from jobs where array_contains(element_at(metadata, 'env'), 'prod')", [], [["x"]]],
    [
      "select id from jobs where starts_with(array_any_value(element_at(metadata, 'region')), 'us-')",
      [],
      [["x"]],
    ],
    ["select metadata['env'] from jobs", [], [["prod"], [null]]],
    ["select id from jobs where payload is null", [], [["y"]]],
    ["select id from jobs where current_attempt is not null", [], [["y"]]],
    ["select id from jobs where current_attempt = 1 or current_attempt <> 1", [], [["y"]]],
    ["select id from jobs where not (current_attempt = 1)", [], []],
    ["select id from jobs order by current_attempt", [], [["y"], ["x"]]],
    ["select id from jobs order by current_attempt desc", [], [["x"], ["y"]]],
    ["select id from jobs order by current_attempt nulls first", [], [["x"], ["y"]]],
    ["select id from jobs limit 0", [], []],
    ["select \"id\" from jobs /* all */ where id = 'x' -- only this\n;", [], [["x"]]],
    ["select id from jobs where id = 'it''s'", [], []],
  ])("%s", async (sql, parameters, rows) => {
    expect(await run(sql, parameters)).toEqual(rows);
  });
});

describe("columns have names and types", () => {
  test.each([
    ["select * from tenant_counts", "shard_id Utf8, tenant Utf8, status_kind Utf8, cnt Int64"],
    ["select count(*), count(*) as n from jobs", "count(*) Int64, n Int64"],
    ["select priority, avg(priority) from jobs group by priority", "priority UInt8, avg(priority) Float64"],
    ["select sum(priority), max(id) from jobs", "sum(priority) UInt64, max(id) Utf8"],
    ["select priority > 1 as p, metadata from jobs", "p Boolean, metadata Map"],
  ])("%s", (sql, columns) => {
    const { columns: found } = new Statement(sql, []);
    expect(found.map(({ name, type }) => `${name} ${type}`).join(", ")).toBe(columns);
  });
});

function failureOf(sql: string): SqlError {
  try {
    return new SqlError("SQL_INVALID", `was taken: ${new Statement(sql, []).table}`);
  } catch (error) {
    return error as SqlError;
  }
}

describe("what it does not do is said", () => {
  test.each<[string, string, string]>([
    ["SELECT FROM WHERE", "SQL_INVALID", "expected an expression"],
    ["select nonexistent from jobs", "SQL_INVALID", "no field named nonexistent"],
    ["select * from elsewhere", "SQL_INVALID", "table 'elsewhere' not found"],
    ["select id from jobs where id = $1", "SQL_INVALID", "$1"],
    ["select id from jobs where priority = 'x'", "SQL_INVALID", "cannot compare UInt8 with Utf8"],
    ["select id from jobs where priority", "SQL_INVALID", "a condition is needed"],
    ["select id, count(*) from jobs", "SQL_INVALID", "must be in GROUP BY"],
    ["select id from jobs where count(*) > 1", "SQL_INVALID", "WHERE has no aggregates"],
    ["select id from jobs limit -1", "SQL_INVALID", "LIMIT"],
    ["select id from jobs limit 1.5", "SQL_INVALID", "LIMIT is a whole number"],
    ["select 'open from jobs", "SQL_INVALID", "is no SQL"],
    ["select id from jobs j1 cross join jobs j2", "SQL_UNSUPPORTED", "more than one table"],
    ["select id from jobs, tasks", "SQL_UNSUPPORTED", "more than one table"],
    ["select id from (select 1)", "SQL_UNSUPPORTED", "a subquery"],
    ["select id from jobs where id in (select job_id from tasks)", "SQL_UNSUPPORTED", "a subquery"],
    ["with x as (select 1) select 1", "SQL_UNSUPPORTED", "WITH"],
    ["select id from jobs union select id from jobs", "SQL_UNSUPPORTED", "UNION"],
    ["select row_number() over (order by id) from jobs", "SQL_UNSUPPORTED", "window function"],
    ["delete from jobs", "SQL_UNSUPPORTED", "DELETE"],
    ["select sqrt(priority) from jobs", "SQL_UNSUPPORTED", "the function sqrt"],
    ["select cast(id as timestamp) from jobs", "SQL_UNSUPPORTED", "the type timestamp"],
  ])("%s", (sql, code, text) => {
    const failure = failureOf(sql);
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(text);
  });

  test("too deep, and too long", () => {
    const deep = `select ${"(".repeat(200)}1${")".repeat(200)} from jobs`;
    const long = `select '${"x".repeat(20_000)}' from jobs`;
    expect(() => new Statement(deep, [])).toThrow("nested more than 100 deep");
    expect(() => new Statement(long, [])).toThrow("at most 16384 characters");
  });

  test("a division by zero ends the statement", async () => {
    const failure = await run("select 1 / (priority - 5) from tasks").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SqlError);
  });
});

test("reading stops as soon as LIMIT is reached", async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<Row> {
    for (;;) {
      read += 1;
      yield TASKS[0]!;
    }
  }
  const found: Row[] = [];
  for await (const row of new Statement("select job_id from tasks limit 3", []).run(endless()))
    found.push(row);
  expect([found.length, read]).toEqual([3, 3]);
});

test("what WHERE fixes can be told to whoever has the rows", () => {
  const sql = "select id from jobs where tenant = $1 and 'x' = id and (priority = 3 or priority = 4)";
  expect([...new Statement(sql, ["acme"]).equals]).toEqual([
    ["tenant", "acme"],
    ["id", "x"],
  ]);
});
