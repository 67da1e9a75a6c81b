/**
 * A search of the whole fleet: chooses the repositories that it concerns, asks their holders, and gives the answers as they come. What does not answer is told
 * with its reason, never left out in silence. A repository that rests is woken when somebody names it.
 */
import type { FleetAccess } from "@keelson/runtime";
import { simplify, type Query } from "../query/index.ts";
import { CATALOGUE_SHARD, shardOf, type Repository } from "../repository.ts";
import { unpackFiles } from "../search/packed-files.ts";
import type {
  PackedAnswer,
  SearchRequest,
  ShardAnswer,
  ShardSearchOptions,
} from "../search/search-request.ts";
import { askCatalogue } from "./ask-catalogue.ts";
import { directoryOf } from "./directory.ts";
import { meantBy } from "./meant.ts";

export interface FleetSearch {
  readonly query: Query;
  readonly options: Omit<ShardSearchOptions, "timeCapMs">;
  /** For the whole of it. */
  readonly timeoutMs: number;
  /** How long a repository that nobody holds is waited for. */
  readonly patienceMs: number;
  readonly trace?: string | undefined;
  /** Whoever asked has left. */
  readonly signal?: AbortSignal | undefined;
}

/** A repository that did not answer. */
export interface Missing {
  readonly repository: string;
  readonly code: string;
  readonly why: string;
}

export type SearchEvent = EventOf<ShardAnswer>;
/** With files as they came, which takes a fraction of the memory. */
export type PackedEvent = EventOf<PackedAnswer>;

type EventOf<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "missing"; readonly missing: Missing }
  /** How many repositories are asked, and how many the query left out. First of all. */
  | {
      readonly kind: "begin";
      readonly asked: number;
      readonly leftOut: number;
      readonly problem: string | undefined;
    };

/** So many that rest are woken by one search: one that names many is no wish for each of them. */
const wokenMax = 8;
/** Of those that nobody holds so many are asked about; of the others it is said only that nobody has them. */
const explainedMax = 8;
const explainMsMax = 500;
/** What is left of the time for the way there and back. */
const capShare = 0.9;

/** Throws RangeError when the query asks for too much. */
export async function* searchFleet(access: FleetAccess, search: FleetSearch): AsyncGenerator<SearchEvent> {
  for await (const event of searchPacked(access, search))
    yield event.kind === "answer" ? { kind: "answer", answer: await unpacked(event.answer) } : event;
}

export async function unpacked({ packed, ...answer }: PackedAnswer): Promise<ShardAnswer> {
  return { ...answer, files: await unpackFiles(packed) };
}

/** The same, as it came. */
export async function* searchPacked(access: FleetAccess, search: FleetSearch): AsyncGenerator<PackedEvent> {
  const { first, shards, query } = await beginSearch(access, search);
  yield* first;
  yield* askAll(access, { ...search, query }, shards);
}

/** A search that has chosen whom to ask. */
interface BegunSearch {
  readonly first: readonly Exclude<PackedEvent, { kind: "answer" }>[];
  readonly shards: readonly AskedShard[];
  /** What is left to ask them. */
  readonly query: Query;
}

interface AskedShard {
  readonly shard: string;
  readonly name: string;
}

export async function beginSearch(
  access: FleetAccess,
  search: Pick<FleetSearch, "query" | "timeoutMs">,
): Promise<BegunSearch> {
  const { repositories, problem } = await directoryOf(access).list();
  const { shards, resting, leftOut } = await choose(access, search, repositories);
  const wakes = resting.length <= wokenMax && namesRepositories(search.query);
  const next = wakes ? " and is being loaded: try again" : ": ask for it by name to have it loaded";
  if (wakes) wake(access, resting);
  return {
    first: [
      { kind: "begin", asked: shards.length + resting.length, leftOut, problem },
      ...resting.map(({ name, reason }) => ({
        kind: "missing" as const,
        missing: { repository: name, code: "RESTING", why: `it is in nobody's memory (${reason})${next}` },
      })),
    ],
    shards,
    query: repositories ? withoutNumbers(search.query) : search.query,
  };
}

interface Chosen {
  readonly shards: readonly AskedShard[];
  readonly resting: readonly Repository[];
  readonly leftOut: number;
}

async function choose(
  access: FleetAccess,
  { query, timeoutMs }: Pick<FleetSearch, "query" | "timeoutMs">,
  repositories: readonly Repository[] | undefined,
): Promise<Chosen> {
  if (!repositories) {
    const ids = access.shards("code").ids.filter((id) => id !== CATALOGUE_SHARD);
    return { shards: ids.map((shard) => ({ shard, name: `#${shard}` })), resting: [], leftOut: 0 };
  }
  const meant = (await meantBy(query, repositories, timeoutMs)).flatMap(({ row, query: left }) =>
    left.kind !== "const" || left.value ? row : [],
  );
  return {
    shards: meant
      .filter(({ state }) => state === "active")
      .map((row) => ({ shard: shardOf(row), name: row.name })),
    resting: meant.filter(({ state }) => state === "resting"),
    leftOut: repositories.length - meant.length,
  };
}

/** Whoever is asked was chosen by number already: a long list need not travel to every node, nor be read there for each repository. */
function withoutNumbers(query: Query): Query {
  if (query.kind !== "and") return query;
  return simplify({ ...query, children: query.children.filter(({ kind }) => kind !== "repo-ids") });
}

function wake(access: FleetAccess, resting: readonly Repository[]): void {
  if (resting.length === 0) return;
  const ids = resting.map(({ id }) => id);
  access
    .call({
      service: "code",
      shard: CATALOGUE_SHARD,
      method: "wanted",
      mode: "read",
      body: { ids },
      timeoutMs: 5_000,
    })
    // The search is answered all the same; the next one that names it asks again.
    .catch(() => undefined);
}

function namesRepositories(query: Query): boolean {
  switch (query.kind) {
    case "repo":
    case "repo-ids":
      return true;
    case "and":
    case "or":
      return query.children.some(namesRepositories);
    case "type":
      return namesRepositories(query.child);
    default:
      return false;
  }
}

/** Each node is asked once for all that it holds. Yields in the order in which they answer. */
async function* askAll(
  access: FleetAccess,
  search: FleetSearch,
  shards: Chosen["shards"],
): AsyncGenerator<PackedEvent> {
  const names = new Map(shards.map(({ shard, name }) => [shard, name]));
  const body: SearchRequest = {
    query: search.query,
    options: { ...search.options, timeCapMs: Math.max(1, Math.floor(search.timeoutMs * capShare)) },
  };
  const parts = access.many({
    service: "code",
    shards: [...names.keys()],
    method: "search",
    body,
    timeoutMs: search.timeoutMs,
    patienceMs: search.patienceMs,
    signal: search.signal,
    ...(search.trace === undefined ? {} : { trace: search.trace }),
  });
  const unheld: Unheld[] = [];
  for await (const part of parts)
    if ("body" in part) yield { kind: "answer", answer: part.body as PackedAnswer };
    else {
      const { shard, code } = part;
      const missing = missingOf(names.get(shard) ?? `#${shard}`, part);
      if (code === "NO_HOLDER") unheld.push({ id: Number(shard), missing });
      else yield { kind: "missing", missing };
    }
  for (const missing of await explained(access, unheld)) yield { kind: "missing", missing };
}

/** Throws RangeError for what is wrong with the query itself: it is so everywhere. */
export function missingOf(
  repository: string,
  { code, why: said }: { readonly code: string; readonly why: string },
): Missing {
  const why = withoutName(said, repository);
  if (code === "PATTERN_TOO_LARGE") throw new RangeError(why);
  return { repository, code, why };
}

/** The router says which shard it was and git which repository; that stands beside the reason already. */
function withoutName(why: string, repository: string): string {
  const said = why.replace(/^code\/\S+: /, "");
  return said.startsWith(`${repository}: `) ? said.slice(repository.length + 2) : said;
}

export interface Unheld {
  readonly id: number;
  readonly missing: Missing;
}

/** Nodes know only that nobody has it; whoever keeps the catalogue knows when that is because there is no room. */
export async function explained(access: FleetAccess, unheld: readonly Unheld[]): Promise<Missing[]> {
  const ids = unheld.slice(0, explainedMax).map(({ id }) => id);
  let whys: Readonly<Record<string, string>> = {};
  if (ids.length > 0)
    whys = await askCatalogue<typeof whys>(access, "unheld", { ids }, { timeoutMs: explainMsMax }).catch(
      // That they are missing is said all the same.
      () => ({}),
    );
  return unheld.map(({ id, missing }) => ({ ...missing, why: whys[id] ?? missing.why }));
}
