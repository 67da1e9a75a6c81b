/** What a query leaves to look for in each repository of a list. A list can be long and an expression slow, so others get their turn meanwhile, and there is an end to it. */
import { EngineError } from "../engine/index.ts";
import { matchText, prepareText, specialiser, type Query, type RepositoryFacts } from "../query/index.ts";

/** Between two turns of the event loop. */
const stepMs = 10;

/** Throws RangeError when there is no time left, or an expression is too large for names. */
export async function meantBy<Row extends RepositoryFacts>(
  query: Query,
  rows: readonly Row[],
  timeoutMs: number,
): Promise<{ readonly row: Row; readonly query: Query }[]> {
  const startedAt = performance.now();
  for (const pattern of namePatterns(query)) await prepareText(pattern);
  const special = specialiser(query, matchText);
  let turnAt = performance.now();
  const left: { row: Row; query: Query }[] = [];
  for (const row of rows) {
    left.push({ row, query: understood(special, row) });
    const now = performance.now();
    if (now - turnAt < stepMs) continue;
    if (now - startedAt > timeoutMs)
      throw new RangeError("time ran out while names were looked at: use simpler expressions for them");
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    turnAt = performance.now();
  }
  return left;
}

/** Expressions on what repositories are called and say of themselves. */
function* namePatterns(query: Query): Iterable<string> {
  if (query.kind === "repo" || query.kind === "meta") yield query.pattern;
  else if (query.kind === "and" || query.kind === "or")
    for (const child of query.children) yield* namePatterns(child);
  else if (query.kind === "not" || query.kind === "type") yield* namePatterns(query.child);
}

function understood(special: ReturnType<typeof specialiser>, row: RepositoryFacts): Query {
  try {
    return special(row);
  } catch (error) {
    if (error instanceof EngineError) throw new RangeError(error.message);
    throw error;
  }
}
