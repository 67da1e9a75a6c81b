/** A small SQL: one SELECT over one table of rows that somebody else has. */
export { SqlError } from "./sql-error.ts";
export { Statement } from "./statement.ts";
export type { Row } from "./compile.ts";
export { rowBytes } from "./ordering.ts";
export type { ColumnType, Value } from "./syntax.ts";
export type { Column, TableName } from "./tables.ts";
