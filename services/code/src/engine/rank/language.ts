/** The language of a file, by linguist's names: from its name, its extension, or the interpreter its first line asks for. */

const byName: ReadonlyMap<string, string> = new Map(
  Object.entries({
    makefile: "Makefile",
    gnumakefile: "Makefile",
    dockerfile: "Dockerfile",
    containerfile: "Dockerfile",
    "cmakelists.txt": "CMake",
    rakefile: "Ruby",
    gemfile: "Ruby",
    vagrantfile: "Ruby",
    jenkinsfile: "Groovy",
    build: "Starlark",
    "build.bazel": "Starlark",
    workspace: "Starlark",
    "go.mod": "Go Module",
    "go.sum": "Go Checksums",
    "meson.build": "Meson",
    "configure.ac": "M4Sugar",
    ".bashrc": "Shell",
    ".gitignore": "Ignore List",
    ".dockerignore": "Ignore List",
  }),
);

const extensions = `
Ada adb ads|Assembly asm s|AsciiDoc adoc asciidoc|Awk awk|Batchfile bat cmd|C c h|C# cs|C++ cc cpp cxx hpp hh hxx ipp inl tcc|CMake cmake|COBOL cob cbl|CSS css|CSV csv
Clojure clj cljs cljc edn|CoffeeScript coffee|Common Lisp lisp cl|Crystal cr|Cuda cu cuh|Cython pyx pxd|D d|Dart dart|Diff diff patch|Dockerfile dockerfile|Elixir ex exs|Elm elm|Emacs Lisp el
Erlang erl hrl|F# fs fsx fsi|Fortran f90 f95 f03 f for|GLSL glsl vert frag|Gettext Catalog po pot|Go go|GraphQL graphql gql|Groovy groovy gradle|HCL tf hcl|HTML html htm xhtml|Handlebars hbs
Haskell hs|Haxe hx|INI ini cfg|Idris idr|JSON json|JSON5 json5|Java java|JavaScript js mjs cjs jsx|Jinja j2 jinja|Julia jl|Jupyter Notebook ipynb|Kotlin kt kts|Less less|Lex l lex|Lua lua
M4 m4|Makefile mk mak|Markdown md markdown mdx|Nim nim|Nix nix|OCaml ml mli|Objective-C m|Objective-C++ mm|PHP php phtml|PLpgSQL pgsql|Pascal pas pp|Perl pl pm t|PowerShell ps1 psm1|Prolog pro
Protocol Buffer proto|Pug pug|Puppet epp|Python py pyi pyw|QML qml|R r|Racket rkt|Raku raku p6|Roff man 1 2 3 5 7 8|Ruby rb rake gemspec ru|Rust rs|SCSS scss|SQL sql|SVG svg|Sass sass
Scala scala sbt|Scheme scm ss|Shell sh bash zsh ksh|Solidity sol|Starlark bzl star|Stylus styl|Svelte svelte|Swift swift|SystemVerilog sv svh|TOML toml|TSV tsv|Tcl tcl|TeX tex sty cls|Texinfo texi texinfo
Text txt|Thrift thrift|TypeScript ts mts cts|TSX tsx|VHDL vhd vhdl|Verilog v vh|Vim Script vim|Vue vue|WebAssembly wat wast|XML xml xsd xsl xslt|XS xs|YAML yml yaml|Yacc y yy|Zig zig|reStructuredText rst rest`;

const byExtension: ReadonlyMap<string, string> = new Map(
  extensions
    .split(/[|\n]/)
    .filter((line) => line !== "")
    .flatMap((line) => {
      const words = line.split(" ");
      const first = words.findIndex(
        (word, index) => index > 0 && /^[a-z0-9]+$/.test(word) && !/^(?:code)$/.test(word),
      );
      const name = words.slice(0, first).join(" ");
      return words.slice(first).map((extension): [string, string] => [extension, name]);
    }),
);

const interpreters: readonly (readonly [RegExp, string])[] = [
  [/\b(?:ba|da|k|z)?sh\b/, "Shell"],
  [/\bpython[\d.]*\b/, "Python"],
  [/\bperl\b/, "Perl"],
  [/\bruby\b/, "Ruby"],
  [/\b(?:node|deno|bun)\b/, "JavaScript"],
  [/\bphp\b/, "PHP"],
  [/\b[gm]?awk\b/, "Awk"],
  [/\b(?:tclsh|wish|expect)\b/, "Tcl"],
  [/\blua\b/, "Lua"],
];

/** Empty when unknown. `head` is how the file begins. */
export function languageOf(path: string, head: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const named = byName.get(name);
  if (named !== undefined) return named;
  const dot = name.lastIndexOf(".");
  const known = dot === -1 ? undefined : byExtension.get(name.slice(dot + 1));
  if (known !== undefined) return known === "C" && name.endsWith(".h") ? headerLanguage(head) : known;
  if (!head.startsWith("#!")) return "";
  const line = head.slice(0, head.indexOf("\n") === -1 ? undefined : head.indexOf("\n"));
  return interpreters.find(([pattern]) => pattern.test(line))?.[1] ?? "";
}

function headerLanguage(head: string): string {
  if (/^\s*(?:class\s+\w+|namespace\b|template\s*<|using\s+namespace)/m.test(head)) return "C++";
  return /^\s*@(?:interface|protocol|class)\b/m.test(head) ? "Objective-C" : "C";
}
