/**
 * An expression for ripgrep that means what it means to RE2: ripgrep takes `\w`, `\d` and `\b` for Unicode's, RE2 for ASCII's. So the parsed expression is written
 * out again with every set of characters spelt out.
 */
import { parseRegex, type RegexNode } from "@keelson/code/engine";

export function rustSyntax(pattern: string): string {
  return write(parseRegex(pattern, { caseSensitive: true, withinLines: true }));
}

function write(node: RegexNode): string {
  switch (node.kind) {
    case "empty":
      return "(?:)";
    case "chars":
      return chars(node.ranges);
    case "concat":
      return node.of.map((each) => write(each)).join("");
    case "either":
      return `(?:${node.of.map((each) => write(each)).join("|")})`;
    case "repeat": {
      const times = node.max === undefined ? `{${node.min},}` : `{${node.min},${node.max}}`;
      return `(?:${write(node.of)})${times}${node.greedy ? "" : "?"}`;
    }
    case "assert":
      return (
        {
          "text-start": "\\A",
          "text-end": "\\z",
          "line-start": "(?m:^)",
          "line-end": "(?m:$)",
          "word-edge": "(?-u:\\b)",
          "no-word-edge": "(?-u:\\B)",
        } as const
      )[node.assertion];
  }
}

function chars(ranges: readonly number[]): string {
  // A set of nothing is refused, whatever it is written as; what can never hold is not.
  if (ranges.length === 0) return "(?-u:\\b\\B)";
  const hex = (codePoint: number): string => `\\x{${codePoint.toString(16)}}`;
  const parts: string[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const [first, last] = [ranges[i]!, ranges[i + 1]!];
    // There are no surrogates in Rust's characters.
    if (first < 0xd800 && last > 0xdfff) parts.push(`${hex(first)}-\\x{d7ff}\\x{e000}-${hex(last)}`);
    else parts.push(first === last ? hex(first) : `${hex(first)}-${hex(last)}`);
  }
  return `[${parts.join("")}]`;
}
