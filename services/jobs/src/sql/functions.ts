/** The functions of single values. Those of metadata are named as in the engine that clients of the protocol know: a key's values come as a list. */
import type { Compiled } from "./compile.ts";
import { invalid, unsupported } from "./sql-error.ts";
import { shownText, type ColumnType, type Value } from "./syntax.ts";

interface Known {
  /** The least and most arguments. */
  readonly args: readonly [number, number];
  readonly type: ColumnType | "first";
  /** Null in, null out, unless it says otherwise. */
  readonly takesNull?: true;
  work(args: readonly Value[]): Value;
}

const text = (value: Value | undefined): string => shownText(value ?? null);
const number = (value: Value | undefined): number => Number(value);
const list = (value: Value | undefined): readonly string[] =>
  Array.isArray(value) ? (value as string[]) : [];

const elements: Known = {
  args: [2, 2],
  type: "List",
  work([map, key]) {
    if (typeof map !== "object" || map === null || Array.isArray(map))
      throw invalid("element_at needs a map");
    const found = Object.hasOwn(map, text(key)) ? (map as Record<string, string>)[text(key)] : undefined;
    return found === undefined ? [] : [found];
  },
};

const FUNCTIONS: Readonly<Record<string, Known>> = {
  lower: { args: [1, 1], type: "Utf8", work: ([value]) => text(value).toLowerCase() },
  upper: { args: [1, 1], type: "Utf8", work: ([value]) => text(value).toUpperCase() },
  length: { args: [1, 1], type: "Int64", work: ([value]) => Array.from(text(value)).length },
  trim: { args: [1, 1], type: "Utf8", work: ([value]) => text(value).trim() },
  concat: {
    args: [1, 100],
    type: "Utf8",
    takesNull: true,
    work: (all) => all.map((each) => (each === null ? "" : text(each))).join(""),
  },
  substr: {
    args: [2, 3],
    type: "Utf8",
    work([value, from, length]) {
      const begin = number(from) - 1;
      const characters = Array.from(text(value));
      const end = length === undefined ? characters.length : begin + number(length);
      return characters.slice(Math.max(0, begin), Math.max(0, end)).join("");
    },
  },
  starts_with: {
    args: [2, 2],
    type: "Boolean",
    work: ([value, with_]) => text(value).startsWith(text(with_)),
  },
  ends_with: { args: [2, 2], type: "Boolean", work: ([value, with_]) => text(value).endsWith(text(with_)) },
  abs: { args: [1, 1], type: "first", work: ([value]) => Math.abs(number(value)) },
  round: {
    args: [1, 2],
    type: "Float64",
    work([value, digits = 0]) {
      const scale = 10 ** number(digits);
      return Math.round(number(value) * scale) / scale;
    },
  },
  floor: { args: [1, 1], type: "Float64", work: ([value]) => Math.floor(number(value)) },
  ceil: { args: [1, 1], type: "Float64", work: ([value]) => Math.ceil(number(value)) },
  coalesce: {
    args: [1, 100],
    type: "first",
    takesNull: true,
    work: (all) => all.find((each) => each !== null) ?? null,
  },
  nullif: {
    args: [2, 2],
    type: "first",
    takesNull: true,
    work: ([value, other]) => (value === other ? null : (value ?? null)),
  },
  element_at: elements,
  map_extract: elements,
  array_contains: {
    args: [2, 2],
    type: "Boolean",
    work: ([all, wanted]) => list(all).includes(text(wanted)),
  },
  array_any_value: { args: [1, 1], type: "Utf8", work: ([all]) => list(all)[0] ?? null },
};

export function functionOf(name: string, args: readonly Compiled[]): Compiled {
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (known === undefined) throw unsupported(`the function ${name} is`);
  const [least, most] = known.args;
  if (args.length < least || args.length > most)
    throw invalid(
      `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, not ${args.length}`,
    );
  const first = args.find(({ type }) => type !== "Null")?.type ?? "Null";
  return {
    type: known.type === "first" ? first : known.type,
    read(row) {
      const values = args.map((each) => each.read(row));
      return known.takesNull !== true && values.includes(null) ? null : known.work(values);
    },
  };
}
