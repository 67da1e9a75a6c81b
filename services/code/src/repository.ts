/**
 * What the catalogue says of a repository. The row is written by people and by eviction; the record of an index is written by the holder of a replica, guarded by its
 * tenure. Who holds it, since when and until when is not repeated here: that is the tenure. No record ever holds a credential.
 */
import type { Head } from "./git/index.ts";
import type { RepositoryFacts } from "./query/index.ts";

/** `repo/<id>` in the catalogue. */
export interface Repository extends RepositoryFacts {
  readonly v: 1;
  readonly url: string;
  /** Patterns; the default branch when empty. */
  readonly branches: readonly string[];
  /** 0 to 65535: of two equal matches the one in the higher ranked repository comes first. */
  readonly rank: number;
  /** Never evicted, and auctioned before all that are not. */
  readonly pinned: boolean;
  /** `resting`: not in memory anywhere, because room was needed; nobody bids for it until it is wanted again. */
  readonly state: "active" | "resting";
  /** Why it is in this state, for people. */
  readonly reason: string;
  /** Wall clock of when somebody last asked for it to be in memory: added it, named it in a search, or pinned it. */
  readonly wantedAt: number;
  readonly addedAt: number;
  /** The trace that it was added in, so that one trace goes from there to the first answer. */
  readonly trace?: string;
  /** What an auction of it closes at, where that is set for it alone. */
  readonly maxBids?: number;
  /** Zones that it should be in if there is room, best first; the fleet's when left out. */
  readonly zones?: readonly string[];
}

/**
 * `indexed/<id>/<replica>`: what a holder has of it. Operators read the row, `heads`, `indexedAt` and `memoryBytes` with SQL, in the view `catalogue` of the Postgres store
 * (packages/stores/src/postgres/schema/catalogue.ts): what changes here changes there.
 */
export interface IndexRecord {
  readonly v: 1;
  readonly node: string;
  readonly heads: readonly Head[];
  /** Wall clock. */
  readonly indexedAt: number;
  readonly buildMs: number;
  readonly how: "built" | "updated" | "received" | "restored";
  readonly memoryBytes: number;
  readonly contentBytes: number;
  readonly documents: number;
  readonly lines: number;
  /** Records of before do not say it. */
  readonly defaultBranchLines?: number;
  readonly otherBranchesLines?: number;
  /** Symbols have been read, when this was written. */
  readonly symbols?: boolean;
  readonly lastServedAt: number;
  /** Paths in it that are other repositories, and not searched; left out when there are none. */
  readonly submodules?: number;
  /** What people should know of it though nothing is wrong: that there is nothing in it yet, or that submodules are not searched. */
  readonly note?: string;
  /** Why it is not as new as it should be. */
  readonly problem?: { readonly code: string; readonly message: string };
}

/** `size/<id>`: what a build found it needs, before there is an index that could be measured. */
export interface SizeRecord {
  readonly v: 1;
  /** Where it comes to. */
  readonly bytes: number;
  /** Where it is held: its new commit is built beside the one before. Left out when it was not held. */
  readonly besideBytes?: number;
}

/** `poke/<id>`: somebody says that there is something new; holders look at once. */
export interface Poke {
  readonly v: 1;
  readonly n: number;
}

/** Repositories of one fleet. The numbers of all active ones stand in one view of at most 64 KiB, and take a third of it. */
export const repositoriesMax = 100_000;

/** The shard that edits the catalogue. It has no repository. */
export const CATALOGUE_SHARD = "catalogue";

export function shardOf(repository: Pick<Repository, "id">): string {
  return String(repository.id);
}

/** The commit that an answer names: the default branch's. */
export function commitOf(heads: readonly Head[]): string {
  return heads[0]?.commit ?? "";
}
