import { EVERYTHING, NOTHING, type Query } from "./query.ts";

/**
 * The same query with less in it: constants are folded, lists of one are their one member, and lists within lists of the same kind are joined. What it
 * finds does not change, except that `type:` around a constant is that constant.
 */
export function simplify(query: Query): Query {
  switch (query.kind) {
    case "and":
    case "or":
      return list(query.kind, query.children);
    case "not": {
      const child = simplify(query.child);
      if (child.kind === "const") return child.value ? NOTHING : EVERYTHING;
      return child.kind === "not" ? child.child : { kind: "not", child };
    }
    case "type": {
      const child = simplify(query.child);
      // Everything, by repository or by file name, is a listing that people do ask for.
      if (child.kind === "const" && !child.value) return child;
      return { ...query, child };
    }
    case "substring":
      return query.pattern === "" ? EVERYTHING : query;
    case "branch":
      return query.pattern === "" ? EVERYTHING : query;
    default:
      return query;
  }
}

function list(kind: "and" | "or", given: readonly Query[]): Query {
  const isAnd = kind === "and";
  const children: Query[] = [];
  for (const each of given) {
    const child = simplify(each);
    if (child.kind === "const") {
      if (child.value !== isAnd) return child;
    } else if (child.kind === kind) children.push(...child.children);
    else children.push(child);
  }
  if (children.length === 0) return isAnd ? EVERYTHING : NOTHING;
  return children.length === 1 ? children[0]! : { kind, children };
}
