/** What a query asks of one repository: what it says of the repository itself is settled, and `type:repo` inside it is answered. */
import type { CodeIndex, PartialReason } from "../engine/index.ts";
import { simplify, specialiser, type Query, type RepositoryFacts, type TextMatcher } from "../query/index.ts";
import { translate } from "./translate.ts";

/** `partial`: there was no time to find all of it out. */
export async function settle(
  index: CodeIndex,
  facts: RepositoryFacts,
  query: Query,
  terms: { readonly matcher: TextMatcher; readonly timeCapMs: number; readonly signal: AbortSignal },
): Promise<{ settled: Query; partial?: PartialReason }> {
  const { matcher, ...limits } = terms;
  const unsure: { partial?: PartialReason } = {};
  const own = specialiser(query, matcher)(facts);
  const settled = simplify(await answerRepositories(index, own, limits, unsure));
  return { settled, ...unsure };
}

/** Where none have been read, nothing is found in them: that must not look like an answer. */
export function asksForSymbols(query: Query): boolean {
  switch (query.kind) {
    case "symbol":
      return true;
    case "and":
    case "or":
      return query.children.some(asksForSymbols);
    case "not":
    case "type":
      return asksForSymbols(query.child);
    default:
      return false;
  }
}

/** `type:repo` inside a larger query is true for the whole repository, or for nothing of it. Where there was no time to find out, `unsure` says so. */
async function answerRepositories(
  index: CodeIndex,
  query: Query,
  terms: { readonly timeCapMs: number; readonly signal: AbortSignal },
  unsure: { partial?: PartialReason },
): Promise<Query> {
  const inside = (child: Query): Promise<Query> => answerRepositories(index, child, terms, unsure);
  switch (query.kind) {
    case "and":
    case "or":
      return { kind: query.kind, children: await Promise.all(query.children.map(inside)) };
    case "not":
      return { kind: "not", child: await inside(query.child) };
    case "type": {
      const child = await inside(query.child);
      if (query.type !== "repo") return { ...query, child };
      const asked = translate(simplify(child));
      const { counts, partial } = await index.search(asked, { ...terms, matchesMax: 1, filesShownMax: 1 });
      if (counts.files === 0 && partial !== undefined) unsure.partial = partial;
      return { kind: "const", value: counts.files > 0 };
    }
    default:
      return query;
  }
}
