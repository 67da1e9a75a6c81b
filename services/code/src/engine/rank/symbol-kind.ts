/**
 * How much a definition is worth by its kind, in hundredths as the other scores are. What people look for by name differs between languages: an interface is the heart of a Go package, a
 * macro that of a C header. Kinds are the names that ctags gives them; other readers of symbols have others for the same, which are told apart nowhere.
 */

const OTHER_KIND = 100;

const sameKind: Readonly<Record<string, string>> = {
  classes: "class",
  constant: "const",
  enumconstant: "enumerator",
  enummember: "enumerator",
  func: "function",
  getter: "accessor",
  member: "field",
  methodalias: "alias",
  property: "field",
  setter: "accessor",
  talias: "typealias",
  typedef: "typealias",
  variable: "var",
};

type Worths = ReadonlyMap<string, number>;

const common: Worths = worths(
  "class 1000|struct 950|enum 900|interface 800|trait 800|type 800|typealias 800|function 700|method 700|macro 600|field 550|const 500|enumerator 500|var 400",
);

const byLanguage: ReadonlyMap<string, Worths> = new Map(
  Object.entries({
    "C++":
      "class 1000|enum 900|function 800|struct 700|union 600|typealias 500|field 400|var 300|macro 600|enumerator 500",
    Go: "interface 1000|type 900|struct 900|typealias 900|methodspec 850|method 800|function 800|field 700|const 600|var 500",
    GraphQL: "type 1000",
    Java: "class 1000|enum 900|interface 800|method 700|field 600|enumerator 500",
    Kotlin: "class 1000|interface 900|method 800|typealias 700|const 600|var 500",
    Markdown: "chapter 400|section 300|subsection 200",
    PHP: "class 1000|interface 900|function 800|trait 700|define 600|namespace 500|alias 400|var 300|local 300",
    Python: "class 1000|function 800|method 800|field 400|var 300|local 200",
    Ruby: "class 1000|method 900|alias 800|module 700|singletonmethod 600|const 500|accessor 400|library 300",
    Scala: "class 1000|interface 900|object 800|function 700|type 600|var 500|package 400",
  }).map(([language, text]) => [language, new Map([...common, ...worths(text)])]),
);

/** Names that others can use begin with a capital letter there. */
const EXPORTED_IN_GO = 50;
const TESTS_OF_GO = 0.8;

/** `first` is the first character of the symbol's name. */
export function kindWorth(language: string, kind: string, first: string, path: () => string): number {
  const lower = kind.toLowerCase();
  const known = Object.hasOwn(sameKind, lower) ? sameKind[lower]! : lower;
  const worth = (byLanguage.get(language) ?? common).get(known) ?? OTHER_KIND;
  if (language !== "Go") return worth;
  const exported = /^\p{Lu}/u.test(first) ? EXPORTED_IN_GO : 0;
  return Math.round((worth + exported) * (path().endsWith("_test.go") ? TESTS_OF_GO : 1));
}

/** The character that begins at this byte. */
export function firstCharacter(bytes: Uint8Array, at: number): string {
  const byte = bytes[at] ?? 0;
  if (byte < 128) return String.fromCharCode(byte);
  return Array.from(Buffer.from(bytes.slice(at, at + 4)).toString("utf8"))[0] ?? "";
}

function worths(text: string): Worths {
  return new Map(
    text.split("|").map((each): [string, number] => {
      const [kind = "", worth] = each.split(" ");
      return [kind, Number(worth)];
    }),
  );
}
