/** `Query` and `QueryArrow`: SQL about one shard. The statement runs where the shard is held; rows come in batches, and nothing here keeps more than the answer's limit. */
import { GrpcFailure, RouterError } from "@keelson/runtime";
import { pack } from "msgpackr";
import type { QueryItem } from "../shard/query-desk.ts";
import { rowBytes, type Column, type Row, type Value } from "../sql/index.ts";
import { arrowStream } from "./arrow.ts";
import { callFailure, GRPC, shardNotFound } from "./failures.ts";
import type { SiloAnswer, SiloRequest } from "./messages.ts";
import type { SiloCall } from "./service.ts";

const RESULT_BYTES_MAX = 16 * 1024 * 1024;

type Parameter = SiloRequest<"Query">["parameters"][number];

export async function query(request: SiloRequest<"Query">, call: SiloCall): Promise<SiloAnswer<"Query">> {
  let columns: readonly Column[] = [];
  const rows: { msgpack: Uint8Array }[] = [];
  let bytes = 0;
  for await (const item of ask(request, call)) {
    if ("columns" in item) {
      ({ columns } = item);
      continue;
    }
    for (const row of item.rows) {
      bytes += rowBytes(row);
      if (bytes > RESULT_BYTES_MAX)
        throw new GrpcFailure(
          GRPC.resourceExhausted,
          `query result exceeded max_result_bytes (${RESULT_BYTES_MAX} bytes) after ${rows.length} rows; add a LIMIT, select fewer columns, or use QueryArrow`,
        );
      rows.push({ msgpack: pack(objectOf(columns, row)) });
    }
  }
  return {
    columns: columns.map(({ name, type }) => ({ name, data_type: type })),
    rows,
    row_count: rows.length,
  };
}

/** Each message is a whole Arrow IPC stream of its own: its schema and one batch. An answer of no rows is one message with the schema. */
export async function* queryArrow(
  request: SiloRequest<"QueryArrow">,
  call: SiloCall,
): AsyncGenerator<SiloAnswer<"QueryArrow">> {
  let columns: readonly Column[] = [];
  let sent = false;
  for await (const item of ask(request, call)) {
    if ("columns" in item) ({ columns } = item);
    else {
      yield { ipc_data: arrowStream(columns, item.rows) };
      sent = true;
    }
  }
  if (!sent) yield { ipc_data: arrowStream(columns, []) };
}

async function* ask(request: SiloRequest<"Query">, call: SiloCall): AsyncGenerator<QueryItem> {
  const { shard, sql } = request;
  if (!call.calls.map.ranges.some(({ id }) => id === shard)) throw shardNotFound();
  const body = {
    sql,
    parameters: request.parameters.map(parameterOf),
    // A token for some tenants sees the rows of these.
    tenants: call.grpc.principal.tenants,
  };
  try {
    for await (const item of call.calls.stream(shard, "query", body, call.grpc.signal))
      yield item as QueryItem;
  } catch (error) {
    throw sqlFailure(error);
  }
}

function sqlFailure(error: unknown): unknown {
  if (!(error instanceof RouterError)) return error;
  switch (error.code) {
    case "SQL_INVALID":
      return new GrpcFailure(GRPC.invalidArgument, `SQL error: ${error.message}`);
    case "SQL_UNSUPPORTED":
      return new GrpcFailure(GRPC.unimplemented, `SQL error: ${error.message}`);
    case "SQL_TIMEOUT":
      return new GrpcFailure(GRPC.deadlineExceeded, error.message);
    case "SQL_TOO_LARGE":
    case "SQL_BUSY":
      return new GrpcFailure(GRPC.resourceExhausted, error.message);
    default:
      return callFailure(error);
  }
}

function parameterOf(parameter: Parameter): Value {
  const { bool_value, int64_value, uint64_value, float64_value, string_value, bytes_value, null_value } =
    parameter;
  if (bytes_value !== undefined)
    throw new GrpcFailure(GRPC.unimplemented, "SQL parameter error: bytes are not supported");
  if (null_value !== undefined) return null;
  const value = bool_value ?? int64_value ?? uint64_value ?? float64_value ?? string_value;
  if (value === undefined) throw new GrpcFailure(GRPC.invalidArgument, "SQL parameter error: no value");
  return value;
}

function objectOf(columns: readonly Column[], row: Row): Record<string, Value> {
  return Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]));
}
