/** SQL about one shard, over HTTP: the same statements and tables as `Query` of `silo.v1`. */
import { route } from "@keelson/runtime";
import { z } from "zod";
import { SERVICE, ShardCalls } from "../client/shard-calls.ts";
import type { QueryItem } from "../shard/query-desk.ts";
import { ShardFailure } from "../shard/shard-failure.ts";
import { existing } from "./queue-routes.ts";
import { rowBytes, type Column, type Row } from "../sql/index.ts";

const RESULT_BYTES_MAX = 16 * 1024 * 1024;

export const queryRoutes = {
  query: route({
    verb: "POST",
    path: "/shards/{shard}/query",
    summary: "Ask a shard with SQL: jobs, tasks, queues, tenant_counts, queue_counts",
    params: z.object({ shard: z.string() }),
    body: z.object({
      sql: z.string().min(1),
      parameters: z
        .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .max(1_000)
        .default([])
        .describe("the values of $1, $2, …"),
    }),
    answer: z.object({
      columns: z.array(z.object({ name: z.string(), type: z.string() })),
      rows: z.array(z.array(z.unknown())),
    }),
    scope: "read",
    mode: "read",
    limits: { inflightMax: 32 },
    to: {
      kind: "custom",
      async handle({ params, body }, call) {
        let columns: readonly Column[] = [];
        const rows: Row[] = [];
        let bytes = 0;
        const calls = new ShardCalls(call.access);
        existing(params.shard, call.access.shards(SERVICE));
        for await (const item of calls.stream(params.shard, "query", body, call.signal)) {
          const got = item as QueryItem;
          if ("columns" in got) ({ columns } = got);
          else
            for (const row of got.rows) {
              bytes += rowBytes(row);
              if (bytes > RESULT_BYTES_MAX)
                throw new ShardFailure("SQL_TOO_LARGE", `the answer has more than ${RESULT_BYTES_MAX} bytes`);
              rows.push(row);
            }
        }
        return { columns: [...columns], rows: rows.map((row) => [...row]) };
      },
    },
  }),
};
