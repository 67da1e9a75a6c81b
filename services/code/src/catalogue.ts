/**
 * The list of repositories, kept in the store and read from this node's copy of it. Every change of the list is one guarded commit of the head and the rows it
 * concerns, so that all nodes go from one whole list to the next. It decides nothing about who holds what.
 */
import {
  decodeNumbers,
  encodeNumbers,
  type Catalogue,
  type CatalogueHead,
  type MaxBidsChange,
} from "@keelson/runtime";
import type { Known, Override } from "@keelson/kernel";
import { CodeError } from "./code-error.ts";
import type { LoadRecord } from "./node-load.ts";
import { RepositoryAddresses } from "./repository-addresses.ts";
import {
  repositoriesMax,
  type IndexRecord,
  type Poke,
  type Repository,
  type SizeRecord,
} from "./repository.ts";

/** Rows and deletions in one commit, below the store's limit of 100 operations with its guards. */
export const editsMax = 16;
/** The same for rows that are new: each is written with what is said of it to auctions, and nothing is deleted. */
export const addsMax = 45;
const triesMax = 20;
/** Of a row: half of what a store takes, and so many of them at once are not more than etcd takes. */
const rowBytesMax = 32 << 10;

/** `next` is the id of the repository that is added next: ids are never used again. */
interface RepositoryHead extends CatalogueHead {
  readonly next: number;
}

const EMPTY_HEAD: RepositoryHead = { v: 1, n: 0, shardIds: [], next: 1 };

/** What a change of one repository is: its row as it shall be, or undefined to take it off. */
type Edit = (row: Repository) => Repository | undefined;

/** The head with other repositories in it. They are listed by number: as text they would not fit. */
function withActive(head: RepositoryHead, change: (active: Set<number>) => void): RepositoryHead {
  const active = new Set(decodeNumbers(head.shardNumbers ?? ""));
  change(active);
  return { ...head, shardNumbers: encodeNumbers(active) };
}

function checkSize(row: Omit<Repository, "id" | "v">): void {
  const bytes = Buffer.byteLength(JSON.stringify(row));
  if (bytes > rowBytesMax)
    throw new CodeError(
      "BAD_REQUEST",
      `what is said of ${row.name} takes ${bytes} bytes, and ${rowBytesMax} are allowed: give it less metadata, or fewer branches`,
    );
}

export class RepositoryCatalogue {
  readonly #catalogue: Catalogue;
  readonly #replicas: number;
  readonly #zones: readonly string[];
  readonly #rows = new Map<number, Known<Repository>>();
  readonly #names = new Map<string, number>();
  /** By how git servers call them. */
  readonly addresses = new RepositoryAddresses((id) => this.get(id)?.url);
  #ordered: readonly Repository[] | undefined;
  readonly #records = new Map<string, IndexRecord>();
  readonly #sizes = new Map<number, SizeRecord>();
  /** By node. */
  readonly loads = new Map<string, LoadRecord>();
  readonly #poking = new Map<number, { readonly written: Promise<void>; again?: Promise<void> }>();
  readonly #listeners = new Set<(about: string) => void>();
  readonly #unfollow: () => void;

  constructor(
    catalogue: Catalogue,
    options: { readonly replicas: number; readonly zones: readonly string[] },
  ) {
    this.#catalogue = catalogue;
    this.#replicas = options.replicas;
    this.#zones = options.zones;
    this.#unfollow = catalogue.follow((about, known) => this.#changed(about, known));
  }

  stop(): void {
    this.#unfollow();
  }

  /** Told of every record that changes, by its name: `repo/7`, `poke/7`. */
  onChange(listener: (about: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get revision(): number {
    return this.#catalogue.head?.value.n ?? 0;
  }

  get(id: number): Repository | undefined {
    return this.#rows.get(id)?.value;
  }

  byName(name: string): Repository | undefined {
    const id = this.#names.get(name);
    return id === undefined ? undefined : this.get(id);
  }

  /** In the order of their ids. */
  all(): readonly Repository[] {
    this.#ordered ??= [...this.#rows.values()].map(({ value }) => value).sort((a, b) => a.id - b.id);
    return this.#ordered;
  }

  /** By replica. */
  records(id: number): ReadonlyMap<number, IndexRecord> {
    const found = new Map<number, IndexRecord>();
    for (let replica = 0; replica < this.#replicas; replica++) {
      const record = this.#records.get(`${id}/${replica}`);
      if (record) found.set(replica, record);
    }
    return found;
  }

  /** What it was found to need and has not had since. */
  foundSizeOf(id: number): SizeRecord | undefined {
    return this.#sizes.get(id);
  }

  /** What it took, or was found to need; undefined when nobody knows. */
  sizeOf(id: number): number | undefined {
    let size = this.#sizes.get(id)?.bytes;
    for (const { memoryBytes } of this.records(id).values()) size = Math.max(size ?? 0, memoryBytes);
    return size;
  }

  /** Throws CodeError when these cannot be added, all of them or any. */
  checkNew(wanted: readonly Omit<Repository, "id" | "v">[]): void {
    if (this.#rows.size + wanted.length > repositoriesMax)
      throw new CodeError(
        "TOO_MANY_REPOSITORIES",
        `the catalogue has ${this.#rows.size} repositories, and ${repositoriesMax} are possible`,
      );
    const names = new Set<string>();
    for (const row of wanted) {
      const { name } = row;
      if (this.#names.has(name))
        throw new CodeError(
          "NAME_TAKEN",
          `there is a repository ${name} already: give this one another name, or remove that one`,
        );
      if (names.has(name))
        throw new CodeError(
          "NAME_TAKEN",
          `two of these would be named ${name}: add one of them by itself, with another name`,
        );
      names.add(name);
      checkSize(row);
    }
  }

  /** Adds repositories, each with the next free id. Throws CodeError; then nothing was added. */
  async add(wanted: readonly Omit<Repository, "id" | "v">[]): Promise<Repository[]> {
    return this.#retried(async (head) => {
      this.checkNew(wanted);
      const rows = wanted.map((row, i): Repository => ({ ...row, v: 1, id: head.next + i }));
      const done = await this.#commit(
        withActive({ ...head, next: head.next + rows.length }, (active) => {
          for (const { id } of rows) active.add(id);
        }),
        rows.map((row) => ({ id: row.id, row })),
      );
      return done ? rows : undefined;
    });
  }

  /** Changes repositories, all or none. What an edit leaves as it is, is not written. */
  async edit(ids: readonly number[], edit: Edit): Promise<Repository[]> {
    return this.#retried(async (head) => {
      const changes: { id: number; row: Repository | undefined }[] = [];
      for (const id of new Set(ids)) {
        const row = this.get(id);
        if (!row) throw new CodeError("REPOSITORY_UNKNOWN", `there is no repository ${id}`);
        const next = edit(row);
        if (next !== row) changes.push({ id, row: next });
      }
      if (changes.length === 0) return [];
      const next = withActive(head, (active) => {
        for (const { id, row } of changes)
          if (row?.state === "active") active.add(id);
          else active.delete(id);
      });
      const done = await this.#commit(next, changes);
      return done ? changes.flatMap(({ row }) => row ?? []) : undefined;
    });
  }

  /** Somebody says that a repository has something new. Who says so again while that is being written is told of with one more: a crowd of webhooks is two writes. */
  poke(id: number): Promise<void> {
    const underWay = this.#poking.get(id);
    if (!underWay) return this.#pokeNow(id);
    underWay.again ??= underWay.written.then(() => this.#pokeNow(id));
    return underWay.again;
  }

  #pokeNow(id: number): Promise<void> {
    const writing = this.#writePoke(id);
    const poking = { written: writing.catch(() => undefined) };
    this.#poking.set(id, poking);
    void poking.written.then(() => {
      if (this.#poking.get(id) === poking) this.#poking.delete(id);
    });
    return writing;
  }

  async #writePoke(id: number): Promise<void> {
    const poke = this.#catalogue.get<Poke>(`poke/${id}`);
    await this.#catalogue.commit({
      guards: [],
      writes: [{ about: `poke/${id}`, value: { v: 1, n: (poke?.value.n ?? 0) + 1 } satisfies Poke }],
    });
  }

  /** What a holder says of its index; refused, and that is fine, once it is no longer the holder. */
  async record(
    id: number,
    replica: number,
    epoch: { readonly era: number; readonly revision: number },
    record: IndexRecord,
  ): Promise<boolean> {
    const report = await this.#catalogue.commit({
      guards: [],
      writes: [{ about: `indexed/${id}/${replica}`, value: record }, ...this.#settledSize(id, record)],
      holder: { replica: `${this.#catalogue.service}/${id}/${replica}`, epoch },
    });
    return report === "committed";
  }

  get maxBids(): number | undefined {
    return this.#catalogue.maxBids;
  }

  async changeMaxBids(change: MaxBidsChange): Promise<void> {
    for (let tries = 0; tries < triesMax; tries++) {
      const report = await this.#catalogue.changeMaxBids(change);
      if (report === "committed") return;
      // What may have been made is not made again: a number that is raised would be raised twice.
      if (report !== "conflict") break;
    }
    throw new CodeError(
      "CATALOGUE_BUSY",
      "the store did not say whether the change was made: look at the number, then try again",
    );
  }

  /** How busy a node is; undefined takes back what one that is gone has said. */
  async load(node: string, value: LoadRecord | undefined): Promise<void> {
    await this.#catalogue.commit({ guards: [], writes: [{ about: `load/${node}`, value }] });
  }

  /** Once it is there as it should be, but for branches that do not exist, what it takes is known, and what it was thought to need is of no use. */
  #settledSize(id: number, { memoryBytes, problem }: IndexRecord): { about: string; value: undefined }[] {
    const isThere = memoryBytes > 0 && (problem === undefined || problem.code === "NO_BRANCH");
    return isThere && this.#sizes.has(id) ? [{ about: `size/${id}`, value: undefined }] : [];
  }

  /** Of which it has so much already, where it is held. */
  async foundSize(id: number, bytes: number, heldBytes = 0): Promise<void> {
    const value: SizeRecord = {
      v: 1,
      bytes: bytes - heldBytes,
      ...(heldBytes > 0 ? { besideBytes: bytes } : {}),
    };
    const known = this.#sizes.get(id);
    if (known?.bytes === value.bytes && known.besideBytes === value.besideBytes) return;
    await this.#catalogue.commit({ guards: [], writes: [{ about: `size/${id}`, value }] });
  }

  async #retried<T>(attempt: (head: RepositoryHead) => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < triesMax; tries++) {
      const known = this.#catalogue.head;
      const done = await attempt((known?.value as RepositoryHead | undefined) ?? EMPTY_HEAD);
      if (done !== undefined) return done;
    }
    throw new CodeError("CATALOGUE_BUSY", "others changed the catalogue at the same time: try again");
  }

  /** False when somebody else was first: look again, and try again. */
  async #commit(
    head: RepositoryHead,
    changes: readonly { readonly id: number; readonly row: Repository | undefined }[],
  ): Promise<boolean> {
    if (changes.length > addsMax)
      throw new CodeError("BAD_REQUEST", `at most ${addsMax} repositories can be changed at once`);
    for (const { row } of changes) if (row) checkSize(row);
    const next: RepositoryHead = { ...head, n: head.n + 1, replicas: this.#replicas };
    const { service } = this.#catalogue;
    const report = await this.#catalogue.commit({
      guards: [{ about: "head", revision: this.#catalogue.head?.revision ?? 0 }],
      writes: [
        { about: "head", value: next },
        ...changes.map(({ id, row }) => ({ about: `repo/${id}`, value: row })),
        ...changes.flatMap(({ id, row }) => (row ? this.#outdated(row) : this.#leftovers(id))),
      ],
      overrides: changes.map(({ id, row }) => ({
        shard: `${service}/${id}`,
        value: row && this.#override(row),
      })),
    });
    if (report === "conflict") return false;
    if (report === "committed") return true;
    throw new CodeError(
      "CATALOGUE_BUSY",
      "the store did not say whether the change was made: look at the list, then try again",
    );
  }

  /** What is said of it to auctions; undefined when it is like any other. */
  #override({ pinned, maxBids, zones = this.#zones }: Repository): Override | undefined {
    if (!pinned && maxBids === undefined && zones.length === 0) return undefined;
    return {
      v: 1,
      pinned,
      ...(maxBids === undefined ? {} : { maxBids }),
      ...(zones.length === 0 ? {} : { zones }),
    };
  }

  /** What was found of other branches says nothing of these, and might keep it out for ever. */
  #outdated({ id, branches }: Repository): { about: string; value: undefined }[] {
    const before = this.get(id)?.branches;
    const isOutdated = this.#sizes.has(id) && String(before) !== String(branches);
    return isOutdated ? [{ about: `size/${id}`, value: undefined }] : [];
  }

  /** What is said of a repository besides its row goes with it. */
  #leftovers(id: number): { about: string; value: undefined }[] {
    const records = Array.from({ length: this.#replicas }, (_, replica) => `indexed/${id}/${replica}`);
    return [`size/${id}`, ...records].map((about) => ({ about, value: undefined }));
  }

  #changed(about: string, known: Known<unknown> | undefined): void {
    const [part, id = "", replica] = about.split("/");
    if (part === "repo") this.#rowChanged(Number(id), known as Known<Repository> | undefined);
    else if (part === "indexed") {
      const key = `${id}/${replica}`;
      if (known) this.#records.set(key, known.value as IndexRecord);
      else this.#records.delete(key);
    } else if (part === "size") {
      if (known) this.#sizes.set(Number(id), known.value as SizeRecord);
      else this.#sizes.delete(Number(id));
    } else if (part === "load") {
      if (known) this.loads.set(id, known.value as LoadRecord);
      else this.loads.delete(id);
    }
    for (const listener of this.#listeners) listener(about);
  }

  #rowChanged(id: number, known: Known<Repository> | undefined): void {
    this.#ordered = undefined;
    const before = this.#rows.get(id)?.value;
    if (before && this.#names.get(before.name) === id) this.#names.delete(before.name);
    if (before) this.addresses.remove(id, before.url);
    if (known) {
      this.#rows.set(id, known);
      this.#names.set(known.value.name, id);
      this.addresses.add(id, known.value.url);
    } else this.#rows.delete(id);
  }
}
