import { describe, expect, test } from "vitest";
import { languageName } from "./language-names.ts";
import { parseQuery, queryLengthMax, type ParseOptions } from "./parse.ts";
import { QueryError } from "./query-error.ts";
import type { Query, TextAtom, TextScope } from "./query.ts";

const atom =
  (kind: TextAtom["kind"], scope: TextScope) =>
  (pattern: string, caseSensitive = false): TextAtom => ({ kind, pattern, caseSensitive, scope });
const text = atom("substring", "either");
const regex = atom("regex", "either");
const file = atom("substring", "file");
const content = atom("substring", "content");
const and = (...children: Query[]): Query => ({ kind: "and", children });
const or = (...children: Query[]): Query => ({ kind: "or", children });
const not = (child: Query): Query => ({ kind: "not", child });
const symbol = (expression: TextAtom): Query => ({ kind: "symbol", expression });
const branch = (pattern: string): Query => ({ kind: "branch", pattern, exact: false });
const language = (name: string): Query => ({ kind: "language", language: name });
const always: Query = { kind: "const", value: true };

const options: ParseOptions = {
  language: (name) => ({ go: "Go", "c++": "C++", cpp: "C++" })[name.toLowerCase()],
  regexProblem: (pattern) => {
    const at = pattern.indexOf("[z-a]");
    return at < 0 ? undefined : { problem: "a range ends before it begins", at };
  },
};

describe("what queries mean", () => {
  test.each<[string, Query]>([
    ["", always],
    ["   ", always],
    ["( )", always],
    ['file:""', always],
    ['""', always],
    // Expressions that match nothing but the empty text say nothing.
    ["|", always],
    ["(?i)", always],
    ["(|)*", always],
    ["-c:|", { kind: "const", value: false }],
    ["abc | def", and(text("abc"), text("def"))],
    ["^", regex("^")],
    ["a|", regex("a|")],
    [String.raw`|\b`, regex(String.raw`|\b`)],
    ["abc", text("abc")],
    ["  abc\t", text("abc")],
    ["ABC", text("ABC", true)],
    ["straße", text("straße")],
    ["Ärger", text("Ärger", true)],
    ["sub-pixel", text("sub-pixel")],
    ["abc bcd", and(text("abc"), text("bcd"))],
    ["abc\nbcd", and(text("abc"), text("bcd"))],
    ['"abc bcd"', text("abc bcd")],
    [String.raw`"a\"b"`, text('a"b')],
    ['fi"le:bla"', text("file:bla")],
    ["abccase:yes", text("abccase:yes")],
    ["and", text("and")],
    ["a and b", and(text("a"), text("and"), text("b"))],
    // Expressions, and text that only looks like one.
    [String.raw`\bword\b`, regex(String.raw`\bword\b`)],
    [String.raw`\Sx`, regex(String.raw`\Sx`)],
    [String.raw`\pLx`, regex(String.raw`\pLx`)],
    ["abc.*def", regex("abc.*def")],
    ["regex:abc[p-q]", regex("abc[p-q]")],
    ["regex:abc", text("abc")],
    ["aBc[p-q]", regex("aBc[p-q]", true)],
    ["x[A-Z]", regex("x[A-Z]", true)],
    ["(?P<Name>a+)", regex("(?P<Name>a+)")],
    ["a{2}", regex("a{2}")],
    ["a{b", text("a{b")],
    [String.raw`abc\.\*def`, text("abc.*def")],
    [String.raw`\Qa.b\Ec`, text("a.bc")],
    [String.raw`\x41\x{62}`, text("Ab", true)],
    [String.raw`a\ b`, text("a b")],
    [String.raw`a\tb`, text("a\tb")],
    ["(abc)", text("abc")],
    ["(abc)(de)", text("abcde")],
    ["((x|y) )", regex("(x|y)")],
    // Groups and operators.
    ["abc or def", or(text("abc"), text("def"))],
    ['o"r"', text("or")],
    ["(abc or def)", or(text("abc"), text("def"))],
    ["(abc def)", and(text("abc"), text("def"))],
    ["(ppp qqq or rrr sss)", or(and(text("ppp"), text("qqq")), and(text("rrr"), text("sss")))],
    ["((x) ora b(z(d)))", and(text("x"), text("ora"), text("bzd"))],
    ["a (b or c)", and(text("a"), or(text("b"), text("c")))],
    ["-abc", not(text("abc"))],
    ["--abc", text("abc")],
    ["a -(b c)", and(text("a"), not(and(text("b"), text("c"))))],
    ["a -f:def", and(text("a"), not(file("def")))],
    ["-(a or b)", not(or(text("a"), text("b")))],
    // Fields.
    ["f:fs", file("fs")],
    ["file:abc", file("abc")],
    [String.raw`file:helpers\.go byte`, and(file("helpers.go"), text("byte"))],
    ["c:abc", content("abc")],
    ["content:abc", content("abc")],
    ['file:"a b"', file("a b")],
    ["branch:pqr", branch("pqr")],
    ["b:HEAD", branch("HEAD")],
    ["repo:go", { kind: "repo", pattern: "go" }],
    ["r:.*", { kind: "repo", pattern: ".*" }],
    ["lang:C++", language("C++")],
    ["lang:cpp", language("C++")],
    ["lang:klingon", { kind: "const", value: false }],
    ["lang:klingon or abc", text("abc")],
    ["sym:pqr", symbol(content("pqr"))],
    ["sym:Pqr", symbol(content("Pqr", true))],
    ["sym:a(b|d)e", symbol(atom("regex", "content")("a(b|d)e"))],
    ["sym:()", symbol(atom("regex", "content")(".*"))],
    ["sym:|", symbol(atom("regex", "content")(".*"))],
    ["archived:yes", { kind: "config", field: "archived", value: true }],
    ["archived:no", { kind: "config", field: "archived", value: false }],
    ["-fork:yes", not({ kind: "config", field: "fork", value: true })],
    ["public:no", { kind: "config", field: "public", value: false }],
    ["meta.team:^se", { kind: "meta", field: "team", pattern: "^se" }],
    // Case.
    ["abc case:yes", text("abc", true)],
    ["case:no ABC", text("ABC")],
    ['ABC case:"auto"', text("ABC", true)],
    ["abc -f:def case:yes", and(text("abc", true), not(file("def", true)))],
    ["sym:abc case:yes", symbol(content("abc", true))],
    ["(abc case:yes) def", and(text("abc", true), text("def"))],
    ["(abc case:no) DEF case:yes", and(text("abc"), text("DEF", true))],
    ["(abc def) case:yes", and(text("abc", true), text("def", true))],
    // Type.
    ["type:repo abc", { kind: "type", type: "repo", child: text("abc") }],
    ["t:file abc def", { kind: "type", type: "filename", child: and(text("abc"), text("def")) }],
    ["a or b type:repo", { kind: "type", type: "repo", child: or(text("a"), text("b")) }],
    ["type:repo type:filename a", { kind: "type", type: "filename", child: text("a") }],
    ["(type:repo abc) def", and({ kind: "type", type: "repo", child: text("abc") }, text("def"))],
    ["type:repo", { kind: "type", type: "repo", child: always }],
  ])("%j", (query, meaning) => {
    expect(parseQuery(query, options)).toEqual(meaning);
  });
});

describe("errors point at the place", () => {
  test.each<[string, number, RegExp]>([
    ["--", 1, /needs something right after it/],
    ["a -", 2, /needs something right after it/],
    ["a - b", 2, /needs something right after it/],
    ["-or", 0, /needs something right after it/],
    ["-case:yes", 1, /cannot be excluded/],
    ['a "bc', 2, /never closed/],
    ['"a\\', 0, /never closed/],
    ["ab\\", 2, /backslash/],
    ["a case:foo", 7, /yes, no, auto, not "foo"/],
    ["type:commit", 5, /filematch, filename, file, repo/],
    ["fork:maybe", 5, /yes, no/],
    ["sym:", 4, /name of a symbol/],
    ["abc or", 6, /after it/],
    ["or abc", 0, /before it/],
    ["def or or abc", 7, /before it/],
    ["(abc def", 0, /never closed/],
    ["abc def) x", 7, /closes nothing/],
    ["meta.team", 0, /field and a value/],
    ['x f"oo"[z-a]', 7, /range ends before/],
    ["repo:a[z-a]", 6, /range ends before/],
    ["meta.k:[z-a]", 7, /range ends before/],
    ["-(".repeat(101) + " a", 100, /more than 100 groups/],
  ])("%j", (query, at, problem) => {
    const error = failure(query);
    expect(error.at).toBe(at);
    expect(error.problem).toMatch(problem);
  });

  test("the message shows the text with a caret below the place", () => {
    expect(failure("abc case:foo def").message).toBe(
      'case: is one of yes, no, auto, not "foo", at character 10\n  abc case:foo def\n           ^',
    );
  });

  test("a query of ten megabytes is refused in one line of reasonable length", () => {
    const error = failure("x".repeat(10 << 20));
    expect(error.problem).toContain(`${queryLengthMax} are allowed`);
    expect(error.message.length).toBeLessThan(300);
  });
});

describe("literal mode", () => {
  test.each<[string, Query]>([
    ["foo(bar", text("foo(bar")],
    ["a.*b)", text("a.*b)")],
    [String.raw`\d`, text(String.raw`\d`)],
    ["func( main)", and(text("func("), text("main)"))],
    ["a or -b", or(text("a"), not(text("b")))],
    ["Foo.Bar file:x.go", and(text("Foo.Bar", true), file("x.go"))],
    ["repo:a.b", { kind: "repo", pattern: String.raw`a\.b` }],
    ['"a b" case:no', text("a b")],
  ])("%j", (query, meaning) => {
    expect(parseQuery(query, { ...options, literal: true })).toEqual(meaning);
  });
});

function failure(query: string): QueryError {
  try {
    parseQuery(query, options);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(query)} was understood`);
}

test("a query of very many words is refused", () => {
  expect(() => parseQuery("a ".repeat(1_001))).toThrow("1000 words");
  expect(parseQuery("repo:a or ".repeat(999) + "repo:a").kind).toBe("or");
});

test.each([
  ["golang", "Go"],
  ["CPP", "C++"],
  ["Protobuf", "Protocol Buffer"],
  ["plain text", "Text"],
  ["plain_text", "Text"],
  ["Emacs_Lisp", "Emacs Lisp"],
  ["go.sum", "Go Checksums"],
  ["erb", "HTML+ERB"],
  ["Klingon", "Klingon"],
  ["constructor", "constructor"],
])("the language %s is %s", (given, name) => {
  expect(languageName(given)).toBe(name);
});
