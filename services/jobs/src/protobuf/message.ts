/**
 * Protobuf messages as tables: a message is its fields, each with its number and kind, and reads and writes itself. What is left out has its kind's zero, except
 * in `optional` fields and members of a oneof, which are undefined. Unknown fields are skipped. 64-bit numbers are plain numbers, exact up to 2^53.
 */
import { ProtobufError, ProtobufReader, WIRE } from "./reader.ts";
import { ProtobufWriter } from "./writer.ts";

interface Kind<T> {
  readonly wire: number;
  readonly zero: T;
  read(reader: ProtobufReader): T;
  write(writer: ProtobufWriter, value: T): void;
}

export interface Field<T> {
  readonly number: number;
  readonly wire: number;
  /** What a message without it has. A function, because lists and maps must not be shared. */
  empty(): T;
  /** Adds what was read to what was there. */
  read(reader: ProtobufReader, before: T, wire: number): T;
  write(writer: ProtobufWriter, value: T): void;
}

type Values<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export interface Message<T> {
  decode(bytes: Uint8Array): T;
  /** Fields that are missing are written as if they had their zero. */
  encode(value: Partial<T>): Buffer;
}

// oxlint-disable-next-line typescript/no-explicit-any -- fields of all kinds; each is typed where it is made.
export function message<F extends Record<string, Field<any>>>(fields: F): Message<Values<F>> {
  const names = Object.keys(fields);
  const byNumber = new Map(names.map((name) => [fields[name]!.number, name]));
  return {
    decode(bytes) {
      const value: Record<string, unknown> = {};
      for (const name of names) value[name] = fields[name]!.empty();
      const reader = new ProtobufReader(bytes);
      while (!reader.done) {
        const tag = reader.small();
        const wire = tag & 7;
        if (tag >>> 3 === 0) throw new ProtobufError("there is no field 0");
        const name = byNumber.get(tag >>> 3);
        if (name === undefined) reader.skip(wire);
        else value[name] = fields[name]!.read(reader, value[name], wire);
      }
      return value as Values<F>;
    },
    encode(value) {
      const writer = new ProtobufWriter();
      for (const name of names) {
        const given = (value as Record<string, unknown>)[name];
        if (given !== undefined) fields[name]!.write(writer, given);
      }
      return writer.finish();
    },
  };
}

const TEXT: Kind<string> = {
  wire: WIRE.bytes,
  zero: "",
  read: (reader) => reader.text(),
  write: (writer, value) => writer.bytes(Buffer.from(value)),
};
const BYTES: Kind<Uint8Array> = {
  wire: WIRE.bytes,
  zero: new Uint8Array(0),
  read: (reader) => reader.bytes(),
  write: (writer, value) => writer.bytes(value),
};
const BOOL: Kind<boolean> = {
  wire: WIRE.varint,
  zero: false,
  read: (reader) => reader.varint() !== 0n,
  write: (writer, value) => writer.varint(value ? 1n : 0n),
};
const SIGNED: Kind<number> = {
  wire: WIRE.varint,
  zero: 0,
  read: (reader) => Number(BigInt.asIntN(64, reader.varint())),
  write: (writer, value) => writer.varint(BigInt(Math.trunc(value))),
};
const UNSIGNED: Kind<number> = { ...SIGNED, read: (reader) => Number(reader.varint()) };
const DOUBLE: Kind<number> = {
  wire: WIRE.fixed64,
  zero: 0,
  read: (reader) => reader.double(),
  write: (writer, value) => writer.double(value),
};

function single<T>(number: number, kind: Kind<T>): Field<T> {
  return {
    number,
    wire: kind.wire,
    empty: () => kind.zero,
    read: (reader, _, wire) => readAs(kind, number, reader, wire),
    write(writer, value) {
      if (value === kind.zero || (value instanceof Uint8Array && value.length === 0)) return;
      writeAs(kind, number, writer, value);
    },
  };
}

export const text = (number: number): Field<string> => single(number, TEXT);
export const bytes = (number: number): Field<Uint8Array> => single(number, BYTES);
export const bool = (number: number): Field<boolean> => single(number, BOOL);
/** int32, int64 and enums. */
export const int = (number: number): Field<number> => single(number, SIGNED);
/** uint32 and uint64. */
export const uint = (number: number): Field<number> => single(number, UNSIGNED);
export const double = (number: number): Field<number> => single(number, DOUBLE);

const KINDS = { text: TEXT, bytes: BYTES, bool: BOOL, int: SIGNED, uint: UNSIGNED, double: DOUBLE };
type KindName = keyof typeof KINDS;
type KindValue<N extends KindName> = (typeof KINDS)[N]["zero"];

/** One that may be absent: `optional` in the schema, or a member of a oneof. A zero is written too. */
export function optional<N extends KindName>(number: number, name: N): Field<KindValue<N> | undefined> {
  return absent(number, KINDS[name] as unknown as Kind<KindValue<N>>);
}

/** A message within a message; undefined when absent. */
export function nested<T>(number: number, inner: Message<T>): Field<T | undefined> {
  return absent(number, kindOf(inner));
}

export function repeated<T>(number: number, inner: Message<T>): Field<T[]> {
  return many(number, kindOf(inner));
}

export const texts = (number: number): Field<string[]> => many(number, TEXT);

const ENTRY = message({ key: text(1), value: text(2) });

/** map<string, string>. */
export function map(number: number): Field<Record<string, string>> {
  const kind = kindOf(ENTRY);
  return {
    number,
    wire: WIRE.bytes,
    // A key may be spelled like a member of objects.
    empty: () => Object.create(null) as Record<string, string>,
    read(reader, before, wire) {
      const { key, value } = readAs(kind, number, reader, wire);
      before[key] = value;
      return before;
    },
    write(writer, value) {
      for (const [key, each] of Object.entries(value)) writeAs(kind, number, writer, { key, value: each });
    },
  };
}

function absent<T>(number: number, kind: Kind<T>): Field<T | undefined> {
  return {
    number,
    wire: kind.wire,
    empty: () => undefined,
    read: (reader, _, wire) => readAs(kind, number, reader, wire),
    write: (writer, value) => writeAs(kind, number, writer, value as T),
  };
}

function many<T>(number: number, kind: Kind<T>): Field<T[]> {
  return {
    number,
    wire: kind.wire,
    empty: () => [],
    read(reader, before, wire) {
      before.push(readAs(kind, number, reader, wire));
      return before;
    },
    write(writer, values) {
      for (const value of values) writeAs(kind, number, writer, value);
    },
  };
}

function kindOf<T>(inner: Message<T>): Kind<T> {
  return {
    wire: WIRE.bytes,
    zero: undefined as T,
    read: (reader) => inner.decode(reader.bytes()),
    write: (writer, value) => writer.bytes(inner.encode(value)),
  };
}

function readAs<T>(kind: Kind<T>, number: number, reader: ProtobufReader, wire: number): T {
  if (wire !== kind.wire)
    throw new ProtobufError(`field ${number} has the wire type ${wire}, not ${kind.wire}`);
  return kind.read(reader);
}

function writeAs<T>(kind: Kind<T>, number: number, writer: ProtobufWriter, value: T): void {
  writer.tag(number, kind.wire);
  kind.write(writer, value);
}
