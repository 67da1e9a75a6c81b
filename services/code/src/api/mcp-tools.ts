/** The tools that coding agents are given, as they are described to them, and the check that a call is one of these. Agents guess: what is wrong is told by its name, with what would be right. */

/** Matches that one answer shows at most. */
export const resultsMax = 200;
export const contextMax = 10;

const number = (description: string, maximum?: number, minimum = 1) =>
  ({ type: "integer", minimum, ...(maximum === undefined ? {} : { maximum }), description }) as const;
const text = (description: string) => ({ type: "string", description }) as const;
const flag = (description: string) => ({ type: "boolean", description }) as const;

const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

export const TOOLS = [
  {
    name: "search_code",
    title: "Search code",
    description:
      "Search the text and the paths of all files in all indexed repositories, as of their newest commits: faster than grep, and over everything. The pattern is literal text unless regex is true. It ignores case unless it has an uppercase letter or case_sensitive says otherwise. The best files come first (definitions, names of files, whole words; tests and vendored code last). The first line has exact counts of all matches, also of those that are not shown; every file names its commit; PARTIAL says what the answer lacks and why.",
    inputSchema: {
      type: "object",
      required: ["pattern"],
      additionalProperties: false,
      properties: {
        pattern: text("what to look for, such as: openConnection("),
        regex: flag("the pattern is a regular expression in RE2 syntax; ^ and $ are ends of lines"),
        case_sensitive: flag("true: case matters; false: it does not"),
        repo: text("only repositories whose name contains this, such as: github.com/a/b"),
        file: text("only files whose path contains this, such as: src/ or .test.ts"),
        lang: text("only files of this language, such as: go, python, typescript, c++"),
        branch: text("only files on branches whose name contains this; left out: all indexed branches"),
        symbol: flag(
          "only where the pattern is in the name of a function, class or other symbol: finds definitions",
        ),
        max_results: number("matches to show, 30 if left out", resultsMax),
        context: number("lines to show around each match, 0 if left out", contextMax, 0),
      },
    },
    annotations: readOnly,
  },
  {
    name: "read_file",
    title: "Read a file",
    description:
      "Read a file of an indexed repository, or some lines of it, at the commit that is searched. The first line names the commit and says how many lines there are.",
    inputSchema: {
      type: "object",
      required: ["repo", "path"],
      additionalProperties: false,
      properties: {
        repo: text("the repository's whole name, as search_code and list_repositories show it"),
        path: text("the file's whole path in it"),
        branch: text("the default branch if left out"),
        start_line: number("the first line to read, 1 if left out"),
        end_line: number("the last line to read, that of the file if left out"),
      },
    },
    annotations: readOnly,
  },
  {
    name: "list_repositories",
    title: "List repositories",
    description:
      "List the repositories that can be searched, with their branches and commits, and what is wrong with them.",
    inputSchema: {
      type: "object",
      additionalProperties: false,
      properties: { name: text("part of the name; all if left out") },
    },
    annotations: readOnly,
  },
] as const;

/** For whoever connects, before any tool is used. */
export const INSTRUCTIONS =
  "Search code with search_code, narrow it with repo, file or lang rather than asking for more results, then read what matters with read_file.";

/** Throws with what is wrong, and what would be right. What is null was not said. */
export function checkedCall(name: string, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const tool = TOOLS.find((each) => each.name === name);
  if (!tool)
    throw new Error(
      `there is no tool ${name.slice(0, 80)}: use ${TOOLS.map((each) => each.name).join(", ")}`,
    );
  const properties: Readonly<Record<string, { readonly type: string }>> = tool.inputSchema.properties;
  const args: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue;
    if (!Object.hasOwn(properties, key))
      throw new Error(
        `${name} has no argument ${key.slice(0, 80)}: it takes ${Object.keys(properties).join(", ")}`,
      );
    args[key] = valueOf(key, properties[key]!.type, value);
  }
  return args;
}

/** Agents often write numbers and truth as text. */
function valueOf(key: string, type: string, value: unknown): unknown {
  if (type === "string" && typeof value === "string") return value;
  if (type === "boolean") {
    if (typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
  }
  if (type === "integer" && (typeof value === "number" || typeof value === "string")) {
    const read = typeof value === "number" ? value : Number(value === "" ? Number.NaN : value);
    if (Number.isInteger(read) && read >= 0) return read;
  }
  throw new Error(
    `${key} is ${type === "integer" ? "a whole number" : `a ${type}`}, not ${JSON.stringify(value).slice(0, 80)}`,
  );
}
