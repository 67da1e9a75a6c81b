import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test("a word with a slip in it is recognised, whatever its case", () => {
  expect(nearest("Emebdded", ["memory", "embedded", "etcd"])).toBe("embedded");
  expect(nearest("ect", ["memory", "etcd"])).toBe("etcd");
});

test("a word that is far from all is not guessed at", () => {
  expect(nearest("kafka", ["memory", "embedded"])).toBeUndefined();
  expect(nearest("x", [])).toBeUndefined();
});
