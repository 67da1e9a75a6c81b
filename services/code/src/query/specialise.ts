/**
 * What is left of a query once the repository is known: atoms that speak of the repository become constants. If the rest is never true there is nothing
 * to look for in it, and its holder need not be asked.
 */
import type { Query } from "./query.ts";
import { simplify } from "./simplify.ts";

/** What queries may ask of a repository besides its files. */
export interface RepositoryFacts {
  readonly id: number;
  readonly name: string;
  readonly archived: boolean;
  readonly fork: boolean;
  readonly public: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Says whether a regular expression matches a short text anywhere. Made once for each expression of a query. */
export type TextMatcher = (pattern: string) => (text: string) => boolean;

/** Prepares a query for many repositories: expressions are compiled once. */
export function specialiser(query: Query, matcher: TextMatcher): (facts: RepositoryFacts) => Query {
  const compiled = new Map<string, (text: string) => boolean>();
  const matches = (pattern: string, text: string): boolean => {
    let match = compiled.get(pattern);
    if (!match) compiled.set(pattern, (match = matcher(pattern)));
    return match(text);
  };
  const numbers = new Map<readonly number[], ReadonlySet<number>>();
  const among = (ids: readonly number[], id: number): boolean => {
    let set = numbers.get(ids);
    if (!set) numbers.set(ids, (set = new Set(ids)));
    return set.has(id);
  };
  return (facts) => simplify(replace(query, facts, { matches, among }));
}

interface Tests {
  readonly matches: (pattern: string, text: string) => boolean;
  readonly among: (ids: readonly number[], id: number) => boolean;
}

function replace(query: Query, facts: RepositoryFacts, tests: Tests): Query {
  const { matches, among } = tests;
  switch (query.kind) {
    case "and":
    case "or":
      return { kind: query.kind, children: query.children.map((child) => replace(child, facts, tests)) };
    case "not":
      return { kind: "not", child: replace(query.child, facts, tests) };
    case "type":
      return { ...query, child: replace(query.child, facts, tests) };
    case "repo":
      return { kind: "const", value: matches(query.pattern, facts.name) };
    case "repo-ids":
      return { kind: "const", value: among(query.ids, facts.id) };
    case "config":
      return { kind: "const", value: facts[query.field] === query.value };
    case "meta": {
      const value = Object.hasOwn(facts.metadata, query.field) ? facts.metadata[query.field] : undefined;
      return { kind: "const", value: value !== undefined && matches(query.pattern, value) };
    }
    default:
      return query;
  }
}
