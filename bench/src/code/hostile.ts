/** Expressions of up to 1 KB that take long, or much room, in engines that backtrack or unfold. */

const fixed: readonly string[] = [
  "(x+x+)+y",
  "(a|b|c|d|e)*f(a|b|c|d|e){300}g$",
  "(\\pL\\d?){30}\\.{3}",
  ".*.*.*.*.*.*=.*;.*x{100}",
  "\\pL{1000}",
  "\\pL{100}",
  "(a{1,100}){1,10}",
  "((a{1,10}){1,10}){1,10}",
  "(?i)(\\pL\\pN?\\pP?){20}",
  "[^a]{1,500}b[^c]{1,500}d",
  "(.{0,30}e){30}",
  "x.*@@@@|x",
  "\\w+\\s+\\w+\\s+\\w+\\s+\\w+=$",
];

export const hostile: readonly string[] = [
  ...fixed,
  // A kilobyte of nested alternatives, of words, of classes, and of optional parts.
  Array.from({ length: 60 }, (_, i) => `(${String.fromCharCode(97 + (i % 26))}.|`).join("") +
    "z" +
    ")".repeat(60) +
    "{3}",
  Array.from({ length: 105 }, (_, i) => `w${i}[xy]z`).join("|"),
  `(?i)${"[\\pL\\pN_]".repeat(80)}`,
  `${"a?".repeat(250)}${"a".repeat(250)}`,
  `${"(".repeat(200)}ab${")*".repeat(200)}c`,
  `[${"\\pL".repeat(330)}]x{20}`,
  `(${"a|".repeat(400)}b){100}`,
  `(?i)${"straße".repeat(100)}`,
  "(.{1,40}a){20}.*z$",
];
