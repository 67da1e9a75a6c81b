/** A parsed expression: characters are sets of code points, case and flags are already worked in. Groups are gone, because nothing here captures. */

export type Assertion = "text-start" | "text-end" | "line-start" | "line-end" | "word-edge" | "no-word-edge";

export type Node =
  | { readonly kind: "empty" }
  /** Sorted, disjoint, as pairs of first and last code point. An empty list matches nothing. */
  | { readonly kind: "chars"; readonly ranges: readonly number[]; readonly folded: boolean }
  | { readonly kind: "concat"; readonly of: readonly Node[] }
  | { readonly kind: "either"; readonly of: readonly Node[] }
  | {
      readonly kind: "repeat";
      readonly of: Node;
      readonly min: number;
      readonly max: number | undefined;
      readonly greedy: boolean;
    }
  | { readonly kind: "assert"; readonly assertion: Assertion };

export const EMPTY: Node = { kind: "empty" };

/** Whether it can match no characters at all. */
export function isNullable(node: Node): boolean {
  switch (node.kind) {
    case "empty":
    case "assert":
      return true;
    case "chars":
      return false;
    case "concat":
      return node.of.every((each) => isNullable(each));
    case "either":
      return node.of.some((each) => isNullable(each));
    case "repeat":
      return node.min === 0 || isNullable(node.of);
  }
}

/** The most bytes that a match can have; Infinity when there is no limit. */
export function bytesMax(node: Node): number {
  switch (node.kind) {
    case "empty":
    case "assert":
      return 0;
    case "chars": {
      const last = node.ranges.at(-1) ?? 0;
      return last < 0x80 ? 1 : last < 0x800 ? 2 : last < 0x10000 ? 3 : 4;
    }
    case "concat":
      return node.of.reduce((sum, each) => sum + bytesMax(each), 0);
    case "either":
      return node.of.reduce((most, each) => Math.max(most, bytesMax(each)), 0);
    case "repeat": {
      const each = bytesMax(node.of);
      return each === 0 || node.max === 0 ? 0 : each * (node.max ?? Infinity);
    }
  }
}

/** Whether some match could contain a line break. */
export function canMatchLineBreak(node: Node): boolean {
  switch (node.kind) {
    case "empty":
    case "assert":
      return false;
    case "chars":
      return contains(node.ranges, 10);
    case "concat":
    case "either":
      return node.of.some((each) => canMatchLineBreak(each));
    case "repeat":
      return node.max !== 0 && canMatchLineBreak(node.of);
  }
}

export function contains(ranges: readonly number[], codePoint: number): boolean {
  for (let i = 0; i < ranges.length; i += 2) {
    if (codePoint >= ranges[i]! && codePoint <= ranges[i + 1]!) return true;
  }
  return false;
}
