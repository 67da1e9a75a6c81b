/** The same expression, written so that more can be seen of it. Neighbouring alternatives of one character each become one set: `(d|e)` says as much as `[de]` then, and is looked for as quickly. */
import { normalize } from "./char-set.ts";
import type { Node } from "./syntax.ts";

type Chars = Extract<Node, { kind: "chars" }>;

export function simplify(node: Node): Node {
  switch (node.kind) {
    case "empty":
    case "chars":
    case "assert":
      return node;
    case "concat":
      return { kind: "concat", of: node.of.map((each) => simplify(each)) };
    case "repeat":
      return { ...node, of: simplify(node.of) };
    case "either":
      return either(node.of.map((each) => simplify(each)));
  }
}

/** Only neighbours: of alternatives that both match, the first is preferred. */
function either(alternatives: readonly Node[]): Node {
  const of: Node[] = [];
  let sets: Chars[] = [];
  const close = (): void => {
    const [first, ...more] = sets;
    if (first !== undefined) of.push(more.length === 0 ? first : union(sets));
    sets = [];
  };
  for (const each of alternatives) {
    if (each.kind === "chars") sets.push(each);
    else {
      close();
      of.push(each);
    }
  }
  close();
  return of.length === 1 ? of[0]! : { kind: "either", of };
}

function union(sets: readonly Chars[]): Chars {
  return {
    kind: "chars",
    ranges: normalize(sets.flatMap((each) => each.ranges)),
    folded: sets.some((each) => each.folded),
  };
}
