/** A query of the language, without what concerns repositories, as the engine takes it. */
import type { EngineQuery, RegexQuery, SubstringQuery } from "../engine/index.ts";
import type { Query, TextAtom } from "../query/index.ts";

/** In the language `^` and `$` anchor lines, as zoekt's do. */
const LINES = "(?m)";

export function translate(query: Query): EngineQuery {
  switch (query.kind) {
    case "and":
    case "or":
      return { kind: query.kind, of: query.children.map(translate) };
    case "not":
      return { kind: "not", of: translate(query.child) };
    case "type":
      // `type:repo` was answered before; what is left of it is a constant.
      return { kind: "type", type: query.type === "filename" ? "path" : "match", of: translate(query.child) };
    case "substring":
    case "regex":
      return atom(query);
    case "symbol":
      return { kind: "symbol", of: atom(query.expression) };
    case "branch":
      return { kind: "branch", name: query.pattern, exact: query.exact };
    case "language":
      return { kind: "language", name: query.language };
    case "const":
      return { kind: query.value ? "all" : "none" };
    case "repo":
    case "repo-ids":
    case "config":
    case "meta":
      throw new Error(`${query.kind} concerns the repository: the query must be specialised first`);
  }
}

function atom({ kind, pattern, caseSensitive, scope }: TextAtom): SubstringQuery | RegexQuery {
  const where = ({ either: "both", content: "content", file: "path" } as const)[scope];
  return kind === "substring"
    ? { kind, text: pattern, caseSensitive, scope: where }
    : { kind, pattern: `${LINES}${pattern}`, caseSensitive, scope: where };
}
