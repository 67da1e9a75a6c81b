import fc from "fast-check";
import { expect, test } from "vitest";
import { checkKey } from "../keys.ts";
import { fromBytes, keyPath, parseEntry } from "./names.ts";

const segment = fc.oneof(
  fc.constantFrom(
    ".obj",
    "a.obj",
    "a.obj.obj",
    "%",
    "a%",
    "%2e",
    "...",
    "CON",
    "x".repeat(79),
    "x".repeat(80),
  ),
  fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }),
  fc.string({ minLength: 60, maxLength: 170, unit: fc.constantFrom("x", "é", ".", "Y") }),
);
const key = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .map((segments) => segments.join("/"))
  .filter((each) => {
    try {
      checkKey(each);
      return true;
    } catch {
      return false;
    }
  });

/** The key that a path stands for, read back name by name. */
function keyOf(path: string): string | undefined {
  let bytes = "";
  const names = path.split("/");
  for (const [at, name] of names.entries()) {
    const entry = parseEntry(name);
    if (entry === undefined || (entry.kind === "object") !== (at === names.length - 1)) return undefined;
    bytes += entry.bytes;
  }
  return fromBytes(bytes);
}

test("every key has a path that says it again", () => {
  fc.assert(
    fc.property(key, (each) => {
      const { file } = keyPath("", each);
      expect(keyOf(file)).toBe(each);
      for (const name of file.split("/")) {
        expect(name).toMatch(/^[a-z0-9_%-][a-z0-9_.%-]{0,249}$/);
        expect(name).not.toMatch(/\.$/);
      }
    }),
  );
});

test("plain keys are readable paths", () => {
  expect(keyPath("/o", "jobs/shard-7/page.0001")).toEqual({
    folder: "/o/jobs/shard-7",
    file: "/o/jobs/shard-7/page.0001.obj",
  });
});

test("keys that a file system might fold together have paths apart", () => {
  const keys = ["a", "A", "é", "e\u0301", "É", "ß", "ss", "ı", "i", "I"];
  const folded = keys.map((each) => keyPath("/", each).file.toLowerCase().normalize("NFC"));
  expect(new Set(folded).size).toBe(keys.length);
});

test("names that we do not make stand for nothing", () => {
  for (const name of [
    "A.obj",
    "a",
    ".tmp",
    ".obj",
    "a%2E.obj",
    "a%61.obj",
    "%zz",
    "a%",
    "x.obj%",
    "é.obj",
    "a..obj",
  ])
    expect(name === "a" ? undefined : parseEntry(name)).toBeUndefined();
});
