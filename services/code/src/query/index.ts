export * from "./query.ts";
export * from "./query-error.ts";
export { escapeRegex, parseQuery } from "./parse.ts";
export { simplify } from "./simplify.ts";
export { specialiser, type RepositoryFacts, type TextMatcher } from "./specialise.ts";
export { languageName } from "./language-names.ts";
export { matchText, prepareText, regexProblem } from "./text-matcher.ts";
