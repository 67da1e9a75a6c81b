/**
 * The tree of what a thread ran last. One question goes to many repositories, one after another; what its automata have learned by then lies in the thread's scratch, where the
 * next of these searches finds it again. Any other query in between writes over it, so only the last one is kept.
 */
import type { EngineQuery } from "../query.ts";
import { compileTree, type Tree, type TreeTerms } from "./tree.ts";

/** Longer queries are lists of paths, which cost more to compare than to compile. */
const KEY_CHARACTERS_MAX = 4_096;

let last: { readonly key: string; readonly terms: TreeTerms; readonly tree: Tree } | undefined;

export function treeOf(query: EngineQuery, terms: TreeTerms): Tree {
  const key = JSON.stringify([query, terms.branches, terms.firstOfLine]);
  if (last?.key === key && last.terms.checkpoint === terms.checkpoint) {
    for (const atom of last.tree.atoms) atom.scannedBytes = 0;
    return last.tree;
  }
  last = undefined;
  const tree = compileTree(query, terms);
  if (key.length <= KEY_CHARACTERS_MAX) last = { key, terms, tree };
  return tree;
}
