/** Of the branches that a file is on, those that a query speaks of: who asks for `branch:dev` wants to see the file there, at that commit. */
import type { CodeIndex } from "../engine/index.ts";
import type { Query } from "../query/index.ts";

/** What comes back narrows a file's branches. The first branch of an index is the default one. */
export function branchesMeant(
  query: Query,
  index: Pick<CodeIndex, "branches">,
): (branches: readonly string[]) => readonly string[] {
  const tests = branchTests(query, index);
  return (branches) => {
    const meant = branches.filter((branch) => tests.some((test) => test(branch)));
    // No branch was asked for, or it was found by another part of the query.
    return meant.length > 0 ? meant : branches;
  };
}

/** Of atoms that are not excluded. */
function branchTests(query: Query, index: Pick<CodeIndex, "branches">): ((branch: string) => boolean)[] {
  switch (query.kind) {
    case "and":
    case "or":
      return query.children.flatMap((child) => branchTests(child, index));
    case "type":
      return branchTests(query.child, index);
    case "branch": {
      const { pattern, exact } = query;
      if (pattern === "HEAD") return [(branch) => branch === index.branches[0]];
      return [(branch) => (exact ? branch === pattern : branch.includes(pattern))];
    }
    default:
      return [];
  }
}
