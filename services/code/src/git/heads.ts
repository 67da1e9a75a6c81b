/** Which branches a remote has, which are wanted, and at which commits they are. Asks the remote; fetches nothing. */
import type { BoundCredential } from "./credentials.ts";
import { GitError } from "./git-error.ts";
import { git, localUploadPack } from "./git-process.ts";

export interface Head {
  readonly branch: string;
  readonly commit: string;
}

export interface RemoteHeads {
  /** Undefined when the remote does not say. */
  readonly defaultBranch: string | undefined;
  readonly branches: ReadonlyMap<string, string>;
}

const branchesMax = 64;
/** Of the names of all that are wanted: they stand in one record with their commits, and a server may call its branches anything. */
const namesBytesMax = 16 << 10;
/** What a commit is called that HEAD is at without any branch, as in the checkout of a tag. */
export const DETACHED = "HEAD";
const USUAL = ["main", "master"];
export const OID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

export async function listHeads(
  url: string,
  options: {
    what: string;
    credential?: BoundCredential | undefined;
    signal?: AbortSignal | undefined;
    timeoutMs?: number;
  },
): Promise<RemoteHeads> {
  const args = [...localUploadPack(url), "--symref", "--", url, "HEAD", "refs/heads/*"];
  const listing = await git(["ls-remote", ...args], options);
  return parseHeads(listing.toString("utf8"));
}

function parseHeads(listing: string): RemoteHeads {
  const branches = new Map<string, string>();
  let defaultBranch: string | undefined;
  let head: string | undefined;
  for (const line of listing.split("\n")) {
    const [value = "", name = ""] = line.split("\t");
    if (name === "HEAD" && value.startsWith("ref: refs/heads/"))
      defaultBranch = value.slice("ref: refs/heads/".length);
    else if (name === "HEAD" && OID.test(value)) head = value;
    else if (name.startsWith("refs/heads/") && OID.test(value))
      branches.set(name.slice("refs/heads/".length), value);
  }
  return headsOf(defaultBranch, head, branches);
}

/** From what a remote says: the branch that its HEAD leads to, if it says so, and the commit that this is at. */
export function headsOf(
  target: string | undefined,
  head: string | undefined,
  branches: ReadonlyMap<string, string>,
): RemoteHeads {
  if (target !== undefined || head === undefined)
    return { defaultBranch: target ?? usual(branches), branches };
  // The first by name of those that are there, in whatever order they were found: it must be the same one each time.
  const same = [...branches].flatMap(([name, commit]) => (commit === head ? [name] : [])).sort()[0];
  return same === undefined
    ? { defaultBranch: DETACHED, branches: new Map([...branches, [DETACHED, head]]) }
    : { defaultBranch: same, branches };
}

/** A remote whose HEAD leads to a branch that is not there (it was made with another name for it than was pushed) says nothing of a default. */
function usual(branches: ReadonlyMap<string, string>): string | undefined {
  const [first] = branches.keys();
  return USUAL.find((name) => branches.has(name)) ?? (branches.size === 1 ? first : undefined);
}

/**
 * The branches that patterns name, the default branch first: `HEAD`, names, and names with stars. What is named and not there is missing; it keeps nobody from the others. A
 * repository without any commit has none, and none is missing: there will be some.
 */
export function chooseHeads(
  remote: RemoteHeads,
  patterns: readonly string[],
  what: string,
): { readonly heads: Head[]; readonly missing: string[] } {
  const { defaultBranch, branches } = remote;
  if (branches.size === 0) return { heads: [], missing: [] };
  const names = new Set<string>();
  const missing: string[] = [];
  for (const pattern of patterns.length === 0 ? ["HEAD"] : patterns) {
    const found = matching(remote, pattern);
    if (found.length === 0 && !pattern.includes("*")) missing.push(pattern);
    for (const name of found) names.add(name);
  }
  if (names.size === 0 && missing.length > 0) throw noBranch(what, missing);
  if (names.size > branchesMax)
    throw new GitError(
      "NO_BRANCH",
      `${what}: ${names.size} branches are wanted, ${branchesMax} are possible: name fewer`,
    );
  const namesBytes = [...names].reduce((sum, name) => sum + Buffer.byteLength(JSON.stringify(name)), 0);
  if (namesBytes > namesBytesMax)
    throw new GitError(
      "NO_BRANCH",
      `${what}: the names of the branches that are wanted have ${namesBytes} bytes, and ${namesBytesMax} are possible: name fewer`,
    );
  const ordered = [...names].sort(
    (a, b) => Number(b === defaultBranch) - Number(a === defaultBranch) || (a < b ? -1 : 1),
  );
  return { heads: ordered.map((branch) => ({ branch, commit: branches.get(branch)! })), missing };
}

export function noBranch(what: string, missing: readonly string[]): GitError {
  const names = missing.map((name) => JSON.stringify(name)).join(" and ");
  return new GitError("NO_BRANCH", `${what}: it has no branch ${names}: check the branches`);
}

function matching({ defaultBranch, branches }: RemoteHeads, pattern: string): string[] {
  if (pattern === "HEAD")
    return defaultBranch !== undefined && branches.has(defaultBranch) ? [defaultBranch] : [];
  if (!pattern.includes("*")) return branches.has(pattern) ? [pattern] : [];
  const parts = pattern.split("*");
  return [...branches.keys()].filter((name) => matchesStars(name, parts));
}

/** Greedy from the left, the last part from the right: enough for stars, and linear. */
function matchesStars(name: string, parts: readonly string[]): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop() ?? "";
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
