/** A query's text as a tree, with the engine's word on expressions and the usual names of languages. */
import { languageName, parseQuery, regexProblem, type Query } from "../query/index.ts";

/** Throws QueryError, which points at the place. */
export function understand(text: string, literal = false): Query {
  return parseQuery(text, { literal, regexProblem, language: languageName });
}
