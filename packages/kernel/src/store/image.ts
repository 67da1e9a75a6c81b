import type { Change, Entry, RangePage, Revision } from "./contract.ts";

/** A key that changed: its entry now (absent when deleted) and what was known before. */
export interface ImageChange {
  readonly key: string;
  readonly entry: Entry | undefined;
  readonly before: Entry | undefined;
  /** At which it changed; for a key that a listing lacks, the listing's. */
  readonly revision: Revision;
  /** The store said that a session's end deleted it. */
  readonly expired: boolean;
}

/**
 * A copy of everything under one prefix. It is fed by listings, by watch batches and by the node's own commits, in whatever order these
 * arrive: a change counts only when its revision is higher than the known one, so the copy never goes back in time.
 * It is pure; `Mirror` in the runtime keeps it fed.
 */
export class StoreImage {
  readonly #entries = new Map<string, Entry>();
  readonly #groupOf: (key: string) => string | undefined;
  readonly #groups = new Map<string, Map<string, Entry>>();
  /** Revisions of deletions that a slower source might contradict. Forgotten once the watch has passed them. */
  readonly #deleted = new Map<string, Revision>();
  #revision: Revision = 0;
  #incarnation: string | undefined;

  /** `groupOf` names what a key belongs to, for those keys that are asked for by that. */
  constructor(groupOf: (key: string) => string | undefined = () => undefined) {
    this.#groupOf = groupOf;
  }

  /** Every change up to here has been seen. */
  get revision(): Revision {
    return this.#revision;
  }

  /** The incarnation the entries belong to; undefined before the first listing. */
  get incarnation(): string | undefined {
    return this.#incarnation;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  entries(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  /** The entries whose keys belong to this; undefined when there are none. */
  group(name: string): Iterable<Entry> | undefined {
    return this.#groups.get(name)?.values();
  }

  /** One batch of a watch. */
  apply(revision: Revision, changes: readonly Change[]): ImageChange[] {
    const out: ImageChange[] = [];
    for (const change of changes) {
      if (change.kind === "put") this.#put(change.entry, out);
      else this.#delete(change.key, change.revision, change.expired === true, out);
    }
    if (revision > this.#revision) this.#revision = revision;
    if (this.#deleted.size > 0) {
      for (const [key, at] of this.#deleted) if (at <= this.#revision) this.#deleted.delete(key);
    }
    return out;
  }

  /** What one of our own commits wrote: known at once, without waiting for the watch. */
  learn(revision: Revision, changes: readonly Change[]): ImageChange[] {
    // The watch was quicker than the reply: it has already told of this, and perhaps of what undid it.
    if (revision <= this.#revision) return [];
    const out: ImageChange[] = [];
    for (const change of changes) {
      if (change.kind === "put") this.#put(change.entry, out);
      else {
        this.#deleted.set(change.key, revision);
        this.#delete(change.key, change.revision, false, out);
      }
    }
    return out;
  }

  /**
   * A whole listing, page by page as it came. Keys that it lacks are gone, unless we know of a write later than the first page.
   * A listing of another incarnation, or one of a store that has gone back in time (`fallen`), replaces everything: one that is older than what we have seen, or that shows a key as it was
   * before a write that it should know of.
   */
  relist(pages: readonly RangePage[]): { changes: ImageChange[]; fallen: boolean; drift: number } {
    const first = pages[0];
    if (!first) throw new Error("a listing has at least one page");
    const fallen =
      this.#incarnation === first.incarnation &&
      (first.revision < this.#revision || pages.some((page) => this.#contradicts(page)));
    const replaced = fallen || this.#incarnation !== first.incarnation;
    const out: ImageChange[] = [];
    const listed = new Set<string>();
    let drift = 0;
    if (replaced) {
      this.#deleted.clear();
      this.#incarnation = first.incarnation;
    }
    for (const page of pages) {
      for (const entry of page.entries) {
        listed.add(entry.key);
        const before = this.#entries.get(entry.key);
        if (replaced) {
          this.#set(entry);
          if (!before || before.revision !== entry.revision || before.value !== entry.value)
            out.push({ key: entry.key, entry, before, revision: entry.revision, expired: false });
        } else {
          const length = out.length;
          this.#put(entry, out);
          if (out.length > length && entry.revision <= this.#revision) drift++;
        }
      }
    }
    for (const [key, entry] of this.#entries) {
      if (listed.has(key) || (!replaced && entry.revision > first.revision)) continue;
      this.#unset(key);
      out.push({ key, entry: undefined, before: entry, revision: first.revision, expired: false });
    }
    if (replaced || first.revision > this.#revision) this.#revision = first.revision;
    return { changes: out, fallen, drift };
  }

  /** Whether a page lacks a write that is older than the page: the store has lost it, though it may have counted on since. */
  #contradicts({ entries, revision }: RangePage): boolean {
    return entries.some((entry) => {
      const known = this.#entries.get(entry.key)?.revision ?? 0;
      return known > entry.revision && known <= revision;
    });
  }

  #put(entry: Entry, out: ImageChange[]): void {
    const before = this.#entries.get(entry.key);
    if (before && before.revision >= entry.revision) return;
    if ((this.#deleted.get(entry.key) ?? 0) > entry.revision) return;
    this.#set(entry);
    out.push({ key: entry.key, entry, before, revision: entry.revision, expired: false });
  }

  #delete(key: string, revision: Revision, expired: boolean, out: ImageChange[]): void {
    const before = this.#entries.get(key);
    if (!before || before.revision >= revision) return;
    this.#unset(key);
    out.push({ key, entry: undefined, before, revision, expired });
  }

  #set(entry: Entry): void {
    this.#entries.set(entry.key, entry);
    const name = this.#groupOf(entry.key);
    if (name === undefined) return;
    const group = this.#groups.get(name);
    if (group) group.set(entry.key, entry);
    else this.#groups.set(name, new Map([[entry.key, entry]]));
  }

  #unset(key: string): void {
    this.#entries.delete(key);
    const name = this.#groupOf(key);
    const group = name === undefined ? undefined : this.#groups.get(name);
    if (!group) return;
    group.delete(key);
    if (group.size === 0) this.#groups.delete(name!);
  }
}
