import { expect, test } from "vitest";
import { SymbolTable, areSymbols, encodeSymbols } from "./symbols.ts";

const span = (start: number, kind: string) => ({ start, end: start + 3, kind, parent: "", parentKind: "" });

test("gives back the symbols of every document as they were", async () => {
  const bytes = await encodeSymbols(
    3,
    new Map([
      [0, [span(4, "function"), { ...span(9, "field"), parent: "A", parentKind: "class" }]],
      [2, [span(1, "function")]],
    ]),
  );
  expect(areSymbols(bytes)).toBe(true);
  const table = new SymbolTable(bytes);
  expect([0, 1, 2].map((document) => table.range(document))).toEqual([
    [0, 2],
    [2, 2],
    [2, 3],
  ]);
  expect([0, 1, 2].map((symbol) => table.span(symbol))).toEqual([
    span(4, "function"),
    { ...span(9, "field"), parent: "A", parentKind: "class" },
    span(1, "function"),
  ]);
});

test("the event loop has its turn while many symbols are encoded", async () => {
  const documents = 4_000;
  const symbols = new Map(
    Array.from({ length: documents }, (_, i) => [
      i,
      Array.from({ length: 100 }, (__, at) => span(at * 4, `kind ${at}`)),
    ]),
  );
  let encoded = false;
  const encoding = encodeSymbols(documents, symbols).then(() => (encoded = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(encoded).toBe(false);
  await encoding;
});
