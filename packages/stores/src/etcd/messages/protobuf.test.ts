import fc from "fast-check";
import { expect, test } from "vitest";
import { ProtoReader, ProtoWriter } from "./protobuf.ts";

const id = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map((value) => value.toString(16).padStart(16, "0"));

test("whatever is written is read back", () => {
  const writer = new ProtoWriter();
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ number: fc.maxSafeNat(), id, text: fc.string({ unit: "grapheme", maxLength: 300 }) }),
      ),
      (records) => {
        for (const record of records)
          writer.message(3, () => {
            writer.chosenNumber(1, record.number);
            writer.id(2, record.id);
            writer.text(1000, record.text);
          });
        const reader = new ProtoReader(writer.finish());
        const read: { number: number; id: string; text: string }[] = [];
        while (reader.next() === 3)
          read.push(
            reader.message((nested) => {
              const record = { number: 0, id: "", text: "" };
              for (let field = nested.next(); field !== 0; field = nested.next()) {
                if (field === 1) record.number = nested.number();
                else if (field === 2) record.id = nested.id();
                else record.text = nested.text();
              }
              return record;
            }),
          );
        expect(read).toEqual(records);
      },
    ),
    { seed: 4, numRuns: 300 },
  );
});

test("a message larger than the writer's first buffer comes out whole, and the next one is not disturbed", () => {
  const writer = new ProtoWriter();
  const text = "é".repeat(100_000);
  writer.message(1, () => writer.message(2, () => writer.text(3, text)));
  const reader = new ProtoReader(writer.finish());
  reader.next();
  const read = reader.message((outer) => {
    outer.next();
    return outer.message((inner) => {
      inner.next();
      return inner.text();
    });
  });
  expect(read === text).toBe(true);
  writer.number(1, 7);
  expect(writer.finish().toString("hex")).toBe("0807");
});

test("fields of every kind that nobody asked for are skipped", () => {
  // A varint, eight bytes, a length-delimited field, four bytes; then field 7.
  const parts = ["08ff01", "110102030405060708", "1a03616263", "2501020304", "382a"];
  const message = Buffer.from(parts.join(""), "hex");
  const reader = new ProtoReader(message);
  for (let field = reader.next(); field !== 7; field = reader.next()) reader.skip();
  expect(reader.number()).toBe(42);
});

test.each([
  ["ff", "a number is cut short"],
  ["08ffffffffffffffffffff01", "more than 64 bits"],
  ["0a05", "past its message"],
])("%s is refused: %s", (hex, message) => {
  const reader = new ProtoReader(Buffer.from(hex, "hex"));
  expect(() => {
    reader.next();
    reader.skip();
  }).toThrow(message);
});
