/**
 * The shard that edits the catalogue: it takes repositories in and off, wakes those that rest, and passes on what webhooks say. Every replica may do all
 * of that, because edits are guarded commits. The first replica also looks after the fleet as a whole: it wakes what there is room for, and says when more or
 * fewer nodes are wanted.
 */
import type { Epoch, Prepared, Shard, ShardRequest } from "@keelson/kernel";
import type { SentRequest } from "@keelson/runtime";
import type { PushedRepository } from "./api/pushed-repository.ts";
import { CodeError } from "./code-error.ts";
import { addsMax, editsMax, type RepositoryCatalogue } from "./catalogue.ts";
import { GitError, parseRemote } from "./git/index.ts";
import { pageOf, type Page, type PageRequest } from "./repository-page.ts";
import type { IndexRecord, Repository } from "./repository.ts";
import type { WebhookCheck } from "./webhook-check.ts";

interface AddedRepository {
  readonly url: string;
  readonly name?: string | undefined;
  readonly branches?: readonly string[] | undefined;
  readonly archived?: boolean | undefined;
  readonly fork?: boolean | undefined;
  readonly public?: boolean | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly rank?: number | undefined;
  readonly pinned?: boolean | undefined;
  /** Null: as for all others. */
  readonly maxBids?: number | null | undefined;
  readonly zones?: readonly string[] | undefined;
}

/** At how many answers auctions close: so many, or as many as there are live bidders (null); or so many more before nodes join, so many fewer after they are gone. */
interface AuctionsChange {
  readonly maxBids?: number | null | undefined;
  readonly joining?: number | undefined;
  readonly gone?: number | undefined;
}

/** A repository with who holds it and what they have of it. */
export interface RepositoryStatus extends Repository {
  readonly replicas: readonly {
    readonly replica: number;
    readonly node: string | undefined;
    /** Wall clock. */
    readonly heldSince: number | undefined;
    readonly index: IndexRecord | undefined;
  }[];
  readonly demanded: boolean;
  /** Why a replica of it is held by nobody, when there is no room for it. */
  readonly unheld?: string;
}

interface CatalogueShardPorts {
  readonly catalogue: RepositoryCatalogue;
  readonly wall: () => number;
  readonly status: (rows: readonly Repository[]) => RepositoryStatus[];
  readonly webhooks: WebhookCheck;
  /** Begins and ends the first replica's care for the fleet. */
  readonly care: () => () => void;
}

const namesMax = 512;
/** Names are shown on terminals: nothing in them moves the cursor or turns the direction of writing. */
const NO_NAME = /[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

export class CatalogueShard implements Prepared, Shard {
  readonly #ports: CatalogueShardPorts;
  readonly #cares: boolean;
  #stopCaring: (() => void) | undefined;

  constructor(ports: CatalogueShardPorts, replica: number) {
    this.#ports = ports;
    this.#cares = replica === 0;
  }

  activate(_epoch: Epoch): Promise<Shard> {
    if (this.#cares) this.#stopCaring ??= this.#ports.care();
    return Promise.resolve(this);
  }

  close(): Promise<void> {
    this.#stopCaring?.();
    this.#stopCaring = undefined;
    return Promise.resolve();
  }

  async handle({ method, body, trace }: ShardRequest): Promise<unknown> {
    switch (method) {
      case "add":
        return this.#add((body as { repositories: readonly AddedRepository[] }).repositories, trace);
      case "remove":
        return this.#change(body as { names: readonly string[] }, () => undefined);
      case "set": {
        const { names, ...change } = body as { names: readonly string[] } & Partial<AddedRepository>;
        return this.#change({ names }, (row) => this.#changed(row, change));
      }
      case "auctions":
        return this.#auctions(body as AuctionsChange);
      case "wanted":
        return this.#wanted((body as { ids: readonly number[] }).ids);
      case "poke":
        return this.#poke((body as PushedRepository | null) ?? {});
      case "signed":
        return this.#signed(body as SentRequest);
      case "list":
        return this.#page(body as PageRequest | null, (rows) => rows);
      case "status":
        return this.#page(body as PageRequest | null, this.#ports.status);
      case "unheld":
        return this.#unheld((body as { ids: readonly number[] }).ids);
      default:
        throw new CodeError(
          "BAD_REQUEST",
          `the catalogue is asked for add, remove, set, auctions, wanted, poke, signed, list, status or unheld, not ${method}`,
        );
    }
  }

  #page<Row>(request: PageRequest | null, shown: (rows: readonly Repository[]) => readonly Row[]): Page<Row> {
    const { catalogue } = this.#ports;
    const all = catalogue.all();
    const { rows, next } = pageOf(all, request ?? {});
    return {
      revision: catalogue.revision,
      repositories: shown(rows),
      total: all.length,
      ...(next === undefined ? {} : { next }),
    };
  }

  /** By id, why there is no room for it. */
  #unheld(ids: readonly number[]): Record<string, string> {
    const { catalogue, status } = this.#ports;
    const rows = ids.slice(0, editsMax).flatMap((id) => catalogue.get(id) ?? []);
    return Object.fromEntries(
      status(rows).flatMap(({ id, unheld }) => (unheld === undefined ? [] : [[id, unheld]])),
    );
  }

  async #add(wanted: readonly AddedRepository[], trace: string | undefined): Promise<Repository[]> {
    const wall = this.#ports.wall();
    const rows = wanted.map((each) => newRow(each, wall, trace));
    // Of all before any is written, which is done in parts.
    this.#ports.catalogue.checkNew(rows);
    const added: Repository[] = [];
    for (let at = 0; at < rows.length; at += addsMax)
      added.push(...(await this.#ports.catalogue.add(rows.slice(at, at + addsMax))));
    return added;
  }

  async #change(
    { names }: { readonly names: readonly string[] },
    edit: (row: Repository) => Repository | undefined,
  ): Promise<{ changed: number }> {
    const { catalogue } = this.#ports;
    // Who is named twice is changed once.
    const ids = [...new Set(names)].map((name) => {
      const row = catalogue.byName(name);
      if (!row)
        throw new CodeError(
          "REPOSITORY_UNKNOWN",
          `there is no repository ${name}: keelson code status has all names`,
        );
      return row.id;
    });
    for (let at = 0; at < ids.length; at += editsMax)
      await catalogue.edit(ids.slice(at, at + editsMax), edit);
    return { changed: ids.length };
  }

  #changed(row: Repository, { maxBids, ...change }: Partial<AddedRepository>): Repository {
    const given = Object.fromEntries(
      Object.entries(change).filter(([key, value]) => value !== undefined && key !== "url" && key !== "name"),
    );
    const pinned = change.pinned === true;
    const { maxBids: before, ...rest } = row;
    const bids = maxBids === undefined ? before : maxBids;
    return {
      ...rest,
      ...given,
      ...(bids ? { maxBids: bids } : {}),
      ...(pinned ? { state: "active", reason: "pinned", wantedAt: this.#ports.wall() } : {}),
    };
  }

  /** Says what is in force afterwards. */
  async #auctions({ maxBids, joining, gone }: AuctionsChange): Promise<{ maxBids: number | null }> {
    const { catalogue } = this.#ports;
    if (joining !== undefined) await catalogue.changeMaxBids({ joining });
    else if (gone !== undefined) await catalogue.changeMaxBids({ gone });
    else if (maxBids !== undefined) await catalogue.changeMaxBids({ maxBids: maxBids ?? undefined });
    return { maxBids: catalogue.maxBids ?? null };
  }

  /** Somebody searches what rests: it is up for auction again. */
  async #wanted(ids: readonly number[]): Promise<{ woken: number }> {
    const { catalogue, wall } = this.#ports;
    const resting = ids.filter((id) => catalogue.get(id)?.state === "resting").slice(0, editsMax);
    if (resting.length === 0) return { woken: 0 };
    await catalogue.edit(resting, (row) =>
      row.state === "resting"
        ? { ...row, state: "active", reason: "somebody asked for it", wantedAt: wall() }
        : row,
    );
    return { woken: resting.length };
  }

  /** Rejects unless a request is rightly signed. One that has shown a token need not be, where there is no secret to check it with. */
  async #signed(sent: SentRequest): Promise<null> {
    const { webhooks } = this.#ports;
    if (sent.proven && !webhooks.checks) return null;
    let why;
    try {
      why = await webhooks.problemOf(sent);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      throw new CodeError("WEBHOOK_UNCHECKED", `webhookSecret of this node cannot be read: ${error.message}`);
    }
    if (why !== undefined) throw new CodeError("WEBHOOK_REFUSED", why);
    return null;
  }

  async #poke({ name, urls, path }: PushedRepository): Promise<{ poked: number }> {
    const { catalogue } = this.#ports;
    if (name === undefined && urls === undefined && path === undefined)
      throw new CodeError("BAD_REQUEST", "say which repository has something new: its name, or its address");
    const named = name === undefined ? undefined : catalogue.byName(name);
    const found = named
      ? [named.id]
      : catalogue.addresses.find({ ...(urls && { urls }), ...(path && { path }) });
    if (found.length === 0)
      throw new CodeError(
        "REPOSITORY_UNKNOWN",
        `there is no repository ${name ?? urls?.[0] ?? path ?? ""}: add it first`,
      );
    await Promise.all(found.map((id) => catalogue.poke(id)));
    return { poked: found.length };
  }
}

function newRow(
  wanted: AddedRepository,
  wall: number,
  trace: string | undefined,
): Omit<Repository, "id" | "v"> {
  let remote;
  try {
    remote = parseRemote(wanted.url);
  } catch (error) {
    if (error instanceof GitError) throw new CodeError("BAD_URL", error.message);
    throw error;
  }
  const name = wanted.name ?? remote.name;
  if (name === "" || name.length > namesMax || NO_NAME.test(name))
    throw new CodeError(
      "BAD_REQUEST",
      `${JSON.stringify(name.slice(0, 80))} is no name for a repository, which has 1 to ${namesMax} characters and no spaces or control characters: give it another name`,
    );
  return {
    url: remote.url,
    name,
    branches: wanted.branches ?? [],
    archived: wanted.archived ?? false,
    fork: wanted.fork ?? false,
    public: wanted.public ?? false,
    metadata: wanted.metadata ?? {},
    rank: wanted.rank ?? 0,
    pinned: wanted.pinned ?? false,
    state: "active",
    reason: "added",
    wantedAt: wall,
    addedAt: wall,
    ...(wanted.maxBids ? { maxBids: wanted.maxBids } : {}),
    ...(wanted.zones === undefined ? {} : { zones: wanted.zones }),
    ...(trace === undefined ? {} : { trace }),
  };
}
