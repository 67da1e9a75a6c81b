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
    podfile: "Ruby",
    brewfile: "Ruby",
    fastfile: "Ruby",
    jenkinsfile: "Groovy",
    build: "Starlark",
    "build.bazel": "Starlark",
    workspace: "Starlark",
    tiltfile: "Starlark",
    "go.mod": "Go Module",
    "go.sum": "Go Checksums",
    "go.work": "Go Workspace",
    "go.work.sum": "Go Checksums",
    "meson.build": "Meson",
    "meson_options.txt": "Meson",
    "configure.ac": "M4Sugar",
    ".bashrc": "Shell",
    ".gitignore": "Ignore List",
    ".dockerignore": "Ignore List",
    ".npmignore": "Ignore List",
    ".prettierignore": "Ignore List",
    ".gitattributes": "Git Attributes",
    ".gitmodules": "Git Config",
    ".editorconfig": "EditorConfig",
    "cargo.lock": "TOML",
    "poetry.lock": "TOML",
    pipfile: "TOML",
    "composer.lock": "JSON",
    "tsconfig.json": "JSON with Comments",
    "yarn.lock": "YAML",
    caddyfile: "Caddyfile",
    codeowners: "CODEOWNERS",
    justfile: "Just",
    kbuild: "Makefile",
    "nginx.conf": "Nginx",
    pkgbuild: "Shell",
    procfile: "Procfile",
    sconstruct: "Python",
    snakefile: "Snakemake",
  }),
);

const extensions = `
ABAP abap|ANTLR g4|APL apl|ASP.NET aspx ascx asax ashx asmx|Ada adb ads ada|Agda agda|AppleScript applescript scpt|AsciiDoc adoc asciidoc|Assembly asm nasm|Astro astro|AutoHotkey ahk
AutoIt au3|Awk awk|Ballerina bal|Batchfile bat cmd|BibTeX bib|Bicep bicep|BitBake bbclass bbappend|Blade blade|C c h|C# cs csx|C++ cc cpp cxx hpp hh hxx ipp inl tcc ino tpp txx ixx cppm
CMake cmake|COBOL cob cbl cpy|CSON cson|CSS css|CSV csv|CUE cue|Cap'n Proto capnp|Chapel chpl|Classic ASP asp|Clojure clj cljs cljc|CodeQL ql qll|CoffeeScript coffee cjsx
Common Lisp lisp cl asd|Coq coq|Crystal cr|Cuda cu cuh|Cypher cypher|Cython pyx pxd pxi|D d di|Dart dart|Dhall dhall|Diff diff patch|Dockerfile dockerfile containerfile|Dotenv env
EJS ejs|Elixir ex exs|Elm elm|Elvish elv|Emacs Lisp el|Erlang erl hrl escript xrl yrl|F# fs fsx fsi|Factor factor|Fennel fnl|Forth forth fth|Fortran f for f77 fpp
Fortran Free Form f90 f95 f03 f08|GDScript gd|GLSL glsl vert frag geom tesc tese|GN gn gni|Gettext Catalog po pot|Gherkin feature|Gleam gleam|Gnuplot gnuplot gp|Go go|Gradle gradle
GraphQL graphql gql graphqls|Graphviz (DOT) dot gv|Groovy groovy gvy|HCL tf hcl tfvars nomad|HLSL hlsl hlsli|HTML html htm xhtml|HTML+EEX eex|HTML+ERB erb rhtml|HTML+PHP phtml
HTML+Razor cshtml razor|HTTP http|Hack hack|Haml haml|Handlebars hbs handlebars|Haskell hs hsc|Haxe hx|INI ini cfg cnf|Idris idr|Isabelle thy|JSON json geojson jsonl webmanifest tfstate
JSON with Comments jsonc|JSON5 json5|Java java|Java Properties properties|Java Server Pages jsp|JavaScript js mjs cjs jsx es6 jsm|Jest Snapshot snap|Jinja j2 jinja jinja2
Jsonnet jsonnet libsonnet|Julia jl|Jupyter Notebook ipynb|Just just|Kotlin kt kts|LLVM ll|Lean lean|Less less|Lex l lex|Linker Script ld lds|Liquid liquid|Literate Haskell lhs
Lua lua rockspec|Luau luau|M4 m4|MATLAB matlab|MDX mdx|MLIR mlir|Makefile mk mak make|Mako mako|Markdown md markdown mkd mdown|Mermaid mermaid mmd|Metal metal
Microsoft Visual Studio Solution sln|Move move|Mustache mustache|NSIS nsi nsh|Nginx nginx|Nim nim nims nimble|Ninja ninja|Nix nix|Nunjucks njk|Nushell nu|OCaml ml mli mll mly
Objective-C m|Objective-C++ mm|Odin odin|Open Policy Agent rego|OpenCL opencl|OpenSCAD scad|Org org|PHP php php5 phpt|PLSQL pks pkb plsql|PLpgSQL pgsql|Pascal pas pp dpr dfm lpr
Perl pl pm t perl psgi|Pkl pkl|PlantUML puml plantuml|PostCSS pcss postcss|PostScript ps eps|PowerShell ps1 psm1 psd1|Prisma prisma|Prolog pro|Protocol Buffer proto
Protocol Buffer Text Format textproto pbtxt|Pug pug jade|Puppet epp|PureScript purs|Python py pyi pyw gyp gypi wsgi|QML qml|R r|RDoc rdoc|RMarkdown rmd qmd|Racket rkt rktd scrbl
Raku raku p6|ReScript res|Reason re rei|RobotFramework robot|Roff man 1 2 3 5 7 8|Ruby rb rake gemspec ru podspec jbuilder rbi thor|Rust rs|SAS sas|SCSS scss|SPARQL sparql rq|SQL sql
SVG svg|Sass sass|Scala scala sbt|Scheme scm ss sld sps|Shell sh bash zsh ksh bats|Slim slim|Smali smali|Smarty tpl|Smithy smithy|Snakemake smk|Solidity sol|Standard ML sml
Starlark bzl star|Stata do ado|Stylus styl|Svelte svelte|Swift swift|SystemVerilog sv svh vh|TLA tla|TOML toml|TSV tsv|TSX tsx|Tcl tcl|Tcsh csh tcsh|TeX tex sty cls dtx ltx
Texinfo texi texinfo txi|Text txt|Textile textile|Thrift thrift|Turtle ttl|Twig twig|TypeScript ts mts cts|TypeSpec tsp|Typst typ|Unix Assembly s|VBScript vbs|VHDL vhd vhdl
Vala vala vapi|Verilog v|Vim Script vim|Visual Basic .NET vb|Vue vue|Vyper vy|WGSL wgsl|WebAssembly wat wast|Wikitext wiki mediawiki|Windows Registry Entries reg
XML xml xsd csproj vcxproj fsproj props targets xaml wsdl xib storyboard resx|XML Property List plist|XQuery xq xquery|XS xs|XSLT xsl xslt|YAML yml yaml|YANG yang|YARA yar yara
Yacc y yy yacc|Zeek zeek|Zig zig|edn edn|fish fish|reStructuredText rst rest|sed sed|templ templ`;

const byExtension: ReadonlyMap<string, string> = new Map(
  extensions
    .split(/[|\n]/)
    .filter((line) => line !== "")
    .flatMap((line) => {
      const words = line.split(" ");
      const first = words.findIndex(
        (word, index) => index > 0 && /^[a-z0-9]+$/.test(word) && word !== "with",
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
