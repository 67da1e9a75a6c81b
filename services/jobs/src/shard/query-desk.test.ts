import type { Clock, Timer } from "@keelson/kernel";
import { expect, test } from "vitest";
import { Engine, Overview, Queries } from "../engine/index.ts";
import type { DurableQueue } from "../storage/durable-queue.ts";
import { QueryDesk, type QueryAsk } from "./query-desk.ts";

const JOBS = 2_000;
const NO_TIMER: Timer = { cancel: () => undefined };

/** Every turn that is given takes a second of it. */
class TurnClock implements Clock {
  turns = 0;

  now(): number {
    return this.turns * 1_000;
  }

  wall(): number {
    return 1_000_000 + this.now();
  }

  after(_: number, run: () => void): Timer {
    this.turns += 1;
    setImmediate(run);
    return NO_TIMER;
  }
}

function openDesk(): { desk: QueryDesk; clock: TurnClock } {
  const clock = new TurnClock();
  const cron = { problem: () => undefined, next: () => undefined };
  const engine = new Engine({ random: () => 0.5, rates: undefined, cron });
  const now = { wallMs: clock.wall(), monoMs: 0 };
  engine.start(now);
  const jobs = Array.from({ length: JOBS }, (_, index) => ({
    id: `j${index}`,
    tenant: "t",
    group: "g",
    payload: Buffer.alloc(0),
  }));
  engine.apply({ kind: "enqueue", jobs }, now);
  const overview = new Overview(engine.state, 1_000);
  const queries = new Queries(engine.state, 1_000);
  // What is asked of the queue here is answered from memory alone.
  const queue = {
    overview,
    async *everyJob() {
      for (const { id } of jobs) yield queries.get({ tenant: "t", id });
    },
  } as unknown as DurableQueue;
  return { desk: new QueryDesk({ shard: "0", queue, clock, holds: () => true }), clock };
}

async function run(desk: QueryDesk, ask: Partial<QueryAsk>): Promise<void> {
  for await (const _ of desk.run({ sql: "SELECT * FROM jobs", parameters: [], ...ask }));
}

test.each<[string, Partial<QueryAsk>]>([
  ["rows", {}],
  ["rows of tenants that are not shown", { tenants: [] }],
  ["jobs that are only counted", { sql: "SELECT * FROM tenant_counts" }],
  ["tasks that are not shown", { sql: "SELECT * FROM tasks", tenants: [] }],
])("others have their turns while %s are read through, and the time is looked at", async (_, ask) => {
  const { desk, clock } = openDesk();
  await expect(run(desk, ask)).rejects.toMatchObject({ code: "SQL_TIMEOUT" });
  expect(clock.turns).toBe(6);
});
