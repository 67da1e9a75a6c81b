/** A query as nodes that work on one segment at a time: which documents may be found, then whether each is. */
import { EngineError } from "../errors.ts";
import { ATOMS_MAX } from "../memory/scratch.ts";
import type { EngineQuery, RegexQuery, SubstringQuery } from "../query.ts";
import { DocumentSet } from "./document-set.ts";
import type { OpenSegment } from "./open-segment.ts";
import { TextAtom } from "./text-atom.ts";

interface TreeNode {
  /** Turns to another segment. Undefined when every document may be found. */
  enter(open: OpenSegment): DocumentSet | undefined;
  /** Whether the document is found. */
  test(document: number): boolean;
  readonly cost: number;
  /** What the score of the document just found is multiplied by. */
  boost(): number;
  /** The atoms whose matches in the document just found are shown. */
  matched(): readonly TextAtom[];
}

export interface Tree {
  readonly root: TreeNode;
  readonly atoms: readonly TextAtom[];
}

export interface TreeTerms {
  readonly branches: readonly string[];
  /** Throws when the search should stop. */
  readonly checkpoint: () => void;
  readonly firstOfLine: boolean;
}

export function compileTree(query: EngineQuery, { branches, checkpoint, firstOfLine }: TreeTerms): Tree {
  const total = countAtoms(query);
  if (total > ATOMS_MAX)
    throw new EngineError(
      "PATTERN_TOO_LARGE",
      `a query may have ${ATOMS_MAX} texts and expressions, this has ${total}`,
    );
  const atoms: TextAtom[] = [];
  const terms = new Map<string, number>();

  const text = (of: SubstringQuery | RegexQuery, inSymbols: boolean, namesOnly: boolean): TreeNode => {
    const key = of.kind === "substring" ? of.text.toLowerCase() : `/${of.pattern}`;
    if (!terms.has(key)) terms.set(key, terms.size);
    const atom = new TextAtom(of, {
      slot: atoms.length,
      atoms: Math.max(1, total),
      checkpoint,
      inSymbols,
      namesOnly,
      term: terms.get(key)!,
      firstOfLine,
    });
    atoms.push(atom);
    return {
      enter: (open) => atom.enter(open),
      test: (document) => atom.run(document),
      cost: atom.cost,
      boost: () => 1,
      matched: () => [atom],
    };
  };

  const build = (node: EngineQuery, namesOnly: boolean): TreeNode => {
    switch (node.kind) {
      case "substring":
      case "regex":
        return text(node, false, namesOnly);
      case "symbol":
        return text(node.of, true, namesOnly);
      case "and":
        return both(node.of.map((each) => build(each, namesOnly)));
      case "or":
        return either(node.of.map((each) => build(each, namesOnly)));
      case "not":
        return negation(build(node.of, namesOnly));
      case "boost": {
        const inner = build(node.of, namesOnly);
        return { ...inner, boost: () => inner.boost() * node.factor };
      }
      case "type":
        return build(node.of, namesOnly || node.type === "path");
      case "branch":
        return onBranch(branches, node.name, node.exact === true);
      case "language":
        return inLanguage(node.name);
      case "paths":
        return among(new Set(node.paths));
      case "all":
        return filter(() => () => true);
      case "none":
        return filter(() => undefined);
    }
  };
  return { root: build(query, false), atoms };
}

function countAtoms(query: EngineQuery): number {
  switch (query.kind) {
    case "substring":
    case "regex":
    case "symbol":
      return 1;
    case "and":
    case "or":
      return query.of.reduce((sum, each) => sum + countAtoms(each), 0);
    case "not":
    case "boost":
    case "type":
      return countAtoms(query.of);
    case "branch":
    case "language":
    case "paths":
    case "all":
    case "none":
      return 0;
  }
}

function both(nodes: TreeNode[]): TreeNode {
  const ordered = nodes.toSorted((a, b) => a.cost - b.cost);
  const set = new DocumentSet();
  return {
    enter(open) {
      let narrowed = false;
      for (const each of ordered) {
        const found = each.enter(open);
        if (found === undefined) continue;
        if (narrowed) set.intersect(found);
        else set.reset(open.segment.documents).unite(found);
        narrowed = true;
      }
      return narrowed ? set : undefined;
    },
    test: (document) => ordered.every((each) => each.test(document)),
    cost: Math.max(0, ...nodes.map((each) => each.cost)),
    boost: () => nodes.reduce((product, each) => product * each.boost(), 1),
    matched: () => nodes.flatMap((each) => each.matched()),
  };
}

/** Every side is tested, because the matches of all of them are shown. */
function either(nodes: TreeNode[]): TreeNode {
  const set = new DocumentSet();
  let found: boolean[] = [];
  return {
    enter(open) {
      let everything = false;
      set.reset(open.segment.documents);
      for (const each of nodes) {
        const some = each.enter(open);
        if (some === undefined) everything = true;
        else if (!everything) set.unite(some);
      }
      return everything ? undefined : set;
    },
    test(document) {
      found = nodes.map((each) => each.test(document));
      return found.includes(true);
    },
    cost: Math.max(0, ...nodes.map((each) => each.cost)),
    boost: () => Math.max(...nodes.filter((_, index) => found[index]).map((each) => each.boost())),
    matched: () => nodes.filter((_, index) => found[index]).flatMap((each) => each.matched()),
  };
}

function negation(node: TreeNode): TreeNode {
  return {
    enter(open) {
      node.enter(open);
      return undefined;
    },
    test: (document) => !node.test(document),
    cost: node.cost + 1,
    boost: () => 1,
    matched: () => [],
  };
}

/** A node that looks at documents, not at text. `prepare` gives the test for a segment, or undefined when it has nothing. */
function filter(prepare: (open: OpenSegment) => ((document: number) => boolean) | undefined): TreeNode {
  const none = new DocumentSet();
  let test: (document: number) => boolean = () => false;
  return {
    enter(open) {
      const prepared = prepare(open);
      test = prepared ?? (() => false);
      return prepared === undefined ? none.reset(open.segment.documents) : undefined;
    },
    test: (document) => test(document),
    cost: 0,
    boost: () => 1,
    matched: () => [],
  };
}

function onBranch(branches: readonly string[], name: string, exact: boolean): TreeNode {
  const wanted = branches.flatMap((each, index) => {
    const found = name === "HEAD" ? index === 0 : exact ? each === name : each.includes(name);
    return found ? [index] : [];
  });
  return filter((open) => {
    if (wanted.length === 0) return undefined;
    return (document) => wanted.some((branch) => open.masks.has(open.firstDocument + document, branch));
  });
}

function inLanguage(name: string): TreeNode {
  const wanted = name.toLowerCase();
  return filter(({ segment }) => {
    const number = segment.languages.findIndex((each) => each.toLowerCase() === wanted);
    return number === -1 || wanted === ""
      ? undefined
      : (document) => segment.languageNumber(document) === number;
  });
}

function among(paths: ReadonlySet<string>): TreeNode {
  return filter(
    ({ segment }) =>
      (document) =>
        paths.has(segment.path(document)),
  );
}
