/**
 * What the highlighter knows of languages: comments, strings and words. It is a sketch that makes code easy to read, no parser; what it does not know stays
 * plain. Names are linguist's, as code search gives them.
 */

export interface Grammar {
  readonly words: ReadonlySet<string>;
  /** What begins a comment that ends with the line. */
  readonly lineComments: readonly string[];
  /** Comments and strings that may go on over lines. */
  readonly spans: readonly Span[];
  /** Quotes of strings that end with their line at the latest. */
  readonly quotes: string;
  /** Words begin with a capital letter when they name types. */
  readonly capitals: boolean;
  /** The letter case of words does not count. */
  readonly anyCase: boolean;
  /** The first characters of comments and spans: only there it is worth looking for one. */
  readonly openers: string;
}

interface Span {
  readonly open: string;
  readonly close: string;
  readonly kind: "comment" | "string";
  /** A backslash takes the next character with it. */
  readonly escapes: boolean;
}

const C_COMMENT: Span = { open: "/*", close: "*/", kind: "comment", escapes: false };
const XML_COMMENT: Span = { open: "<!--", close: "-->", kind: "comment", escapes: false };
const TEMPLATE: Span = { open: "`", close: "`", kind: "string", escapes: true };
const RAW: Span = { open: "`", close: "`", kind: "string", escapes: false };
const triple = (quote: string): Span => ({
  open: quote.repeat(3),
  close: quote.repeat(3),
  kind: "string",
  escapes: true,
});

function grammar(words: string, parts: Partial<Omit<Grammar, "words" | "openers">> = {}): Grammar {
  const made = {
    lineComments: ["//"],
    spans: [C_COMMENT],
    quotes: "\"'",
    capitals: true,
    anyCase: false,
    ...parts,
  };
  const opens = [...made.lineComments, ...made.spans.map(({ open }) => open)];
  return { ...made, words: new Set(words.split(" ")), openers: opens.map((open) => open.charAt(0)).join("") };
}

const SCRIPT =
  "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number object of override private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined unknown var void while with yield";
const C_WORDS =
  "alignas alignof auto bool break case char class const constexpr continue default delete do double else enum explicit export extern false float for friend if inline int long mutable namespace new noexcept nullptr operator private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while NULL";
const JVM =
  "abstract as assert boolean break by byte case catch char class companion const continue data default do double else enum extends false final finally float for fun if implements import in instanceof int interface internal is lazy let long match native new null object open override package private protected public record return sealed short static super switch synchronized this throw throws trait true try typealias val var vararg void volatile when where while with yield def";
const SHELL =
  "alias break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in local read readonly return set shift source then trap unset until while";

const script = grammar(SCRIPT, { spans: [C_COMMENT, TEMPLATE] });
const c = grammar(C_WORDS);
const jvm = grammar(JVM, { spans: [C_COMMENT, triple('"')] });
const shell = grammar(SHELL, {
  lineComments: ["#"],
  spans: [{ open: '"', close: '"', kind: "string", escapes: true }],
  quotes: "'",
  capitals: false,
});
const data = grammar("true false null yes no on off", {
  lineComments: ["#"],
  spans: [triple('"'), triple("'")],
  capitals: false,
});
const markup = grammar("", { lineComments: [], spans: [XML_COMMENT], capitals: false });

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  TypeScript: script,
  TSX: script,
  JavaScript: script,
  JSX: script,
  JSON: grammar("true false null", { quotes: '"', capitals: false }),
  "JSON with Comments": grammar("true false null", { quotes: '"', capitals: false }),
  C: c,
  "C++": c,
  "C#": jvm,
  "Objective-C": c,
  Java: jvm,
  Kotlin: jvm,
  Scala: jvm,
  Groovy: jvm,
  Swift: grammar(
    "as associatedtype break case catch class continue default defer deinit do else enum extension false fileprivate for func guard if import in init inout internal is let nil open operator private protocol public repeat return self static struct subscript super switch throw throws true try typealias var where while async await",
    { spans: [C_COMMENT, triple('"')], quotes: '"' },
  ),
  Go: grammar(
    "any break case chan const continue default defer else error fallthrough false for func go goto if import int int64 interface iota map nil package range return select string struct switch true type uint64 var bool byte rune float64",
    { spans: [C_COMMENT, RAW] },
  ),
  Rust: grammar(
    "as async await bool break const continue crate dyn else enum extern false fn for if impl in i32 i64 let loop match mod move mut pub ref return self Self static str struct super trait true type u8 u32 u64 unsafe use usize where while",
    { quotes: '"' },
  ),
  Zig: grammar(
    "align and anytype break catch comptime const continue defer else enum error errdefer export false fn for if inline null or orelse pub return struct switch test true try undefined union unreachable usingnamespace var void while",
    { spans: [], quotes: "\"'" },
  ),
  Python: grammar(
    "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
    { lineComments: ["#"], spans: [triple('"'), triple("'")] },
  ),
  Ruby: grammar(
    "alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_accessor attr_reader",
    { lineComments: ["#"], spans: [] },
  ),
  PHP: grammar(
    "abstract and array as break case catch class const continue default do echo else elseif extends false final fn for foreach function if implements interface match namespace new null or private protected public readonly return static switch this throw trait true try use var while yield",
    { lineComments: ["//", "#"] },
  ),
  Shell: shell,
  Dockerfile: grammar(
    "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR AS",
    { lineComments: ["#"], spans: [], capitals: false },
  ),
  Makefile: grammar(SHELL, { lineComments: ["#"], spans: [], capitals: false }),
  YAML: data,
  TOML: data,
  INI: grammar("true false", { lineComments: ["#", ";"], spans: [], capitals: false }),
  SQL: grammar(
    "add all alter and as asc between bigint boolean by case cast check column commit constraint create cross default delete desc distinct drop else end exists false foreign from full function group having if in index inner insert int integer into is join key left like limit not null on or order outer primary references returning right rollback select set table text then timestamp to true union unique update using values view when where with",
    { lineComments: ["--"], capitals: false, anyCase: true },
  ),
  Lua: grammar(
    "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
    {
      lineComments: ["--"],
      spans: [{ open: "[[", close: "]]", kind: "string", escapes: false }],
      capitals: false,
    },
  ),
  Haskell: grammar(
    "case class data deriving do else if import in instance let module newtype of qualified then type where",
    {
      lineComments: ["--"],
      spans: [{ open: "{-", close: "-}", kind: "comment", escapes: false }],
      quotes: '"',
    },
  ),
  CSS: grammar("important media supports import keyframes font-face layer container", {
    lineComments: [],
    capitals: false,
  }),
  SCSS: grammar("important media supports import include mixin extend use if else each for function return", {
    capitals: false,
  }),
  HTML: markup,
  XML: markup,
  SVG: markup,
  "Protocol Buffer": grammar(
    "bool bytes double enum extend false float import int32 int64 message oneof option optional package repeated required reserved returns rpc service stream string syntax true uint32 uint64",
  ),
};

const PLAIN = grammar("", { lineComments: [], spans: [], quotes: "", capitals: false });

export function grammarOf(language: string): Grammar {
  return GRAMMARS[language] ?? PLAIN;
}
