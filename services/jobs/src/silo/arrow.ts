/** Rows as an Arrow IPC stream: one schema and one batch. */
import {
  bool,
  float64,
  int64,
  list,
  map,
  tableFromArrays,
  tableToIPC,
  uint32,
  uint64,
  uint8,
  utf8,
  type DataType,
} from "@uwdata/flechette";
import type { Column, ColumnType, Row, Value } from "../sql/index.ts";

const TYPES: Readonly<Record<ColumnType, () => DataType>> = {
  Utf8: utf8,
  Int64: int64,
  UInt64: uint64,
  UInt32: uint32,
  UInt8: uint8,
  Float64: float64,
  Boolean: bool,
  Map: () => map(utf8(), utf8()),
  List: () => list(utf8()),
  // A column of nothing but nulls has to have some type.
  Null: utf8,
};
const LONG: ReadonlySet<ColumnType> = new Set(["Int64", "UInt64"]);

export function arrowStream(columns: readonly Column[], rows: readonly Row[]): Uint8Array {
  // Names may occur twice in a statement, and not in a table.
  const names = columns.map(({ name }, at) =>
    columns.findIndex((each) => each.name === name) === at ? name : `${name}:${at}`,
  );
  const arrays = names.map((name, at) => {
    const { type } = columns[at]!;
    return [name, rows.map((row) => arrowValue(row[at] ?? null, type))] as const;
  });
  const types = Object.fromEntries(names.map((name, at) => [name, TYPES[columns[at]!.type]()]));
  const table = tableFromArrays(Object.fromEntries(arrays), { types });
  const stream = tableToIPC(table, { format: "stream" });
  if (stream === null) throw new TypeError("an Arrow stream was not written");
  return stream;
}

function arrowValue(value: Value, type: ColumnType): unknown {
  if (value === null) return null;
  if (LONG.has(type)) return BigInt(Math.trunc(Number(value)));
  return type === "Map" ? new Map(Object.entries(value as Record<string, string>)) : value;
}
