/**
 * What each fact of the contract works with: a fresh store, keys of its own, and short words for the calls that facts are made of.
 * It asserts nothing about the store beyond "this call must not conflict".
 */
import type {
  Change,
  ChangeBatch,
  CommitOutcome,
  Entry,
  Guard,
  Revision,
  Store,
  Watch,
  Write,
} from "@keelson/kernel";
import type { StoreHarness } from "./harness.ts";

/** Generous: facts are about order and outcome, and a busy machine must not fail them. */
const CALL = { timeoutMs: 10_000 } as const;
const STEP_MS = 5;
const EVENTUALLY_MS = 5_000;

export class Scene {
  readonly harness: StoreHarness;
  /** Every key of this fact begins with it. */
  readonly prefix: string;
  /** The store's, which commits name. */
  incarnation: string;
  readonly call = CALL;

  constructor(harness: StoreHarness, prefix: string, incarnation: string) {
    this.harness = harness;
    this.prefix = prefix;
    this.incarnation = incarnation;
  }

  get store(): Store {
    return this.harness.store;
  }

  get second(): Store {
    return this.harness.second;
  }

  write(name: string, value = "v", session?: string): Write {
    const key = this.prefix + name;
    return session === undefined ? { kind: "put", key, value } : { kind: "put", key, value, session };
  }

  erase(name: string): Write {
    return { kind: "delete", key: this.prefix + name };
  }

  guard(name: string, revision: Revision): Guard {
    return { key: this.prefix + name, revision };
  }

  commit(
    writes: readonly Write[],
    guards: readonly Guard[] = [],
    store = this.store,
  ): Promise<CommitOutcome> {
    return store.commit({ guards, writes }, { ...CALL, incarnation: this.incarnation });
  }

  /** Commits what must not conflict, and returns its revision. */
  async committed(writes: readonly Write[], guards: readonly Guard[] = []): Promise<Revision> {
    const outcome = await this.commit(writes, guards);
    if (outcome.kind !== "committed") throw new Error(`not committed: ${JSON.stringify(outcome)}`);
    return outcome.revision;
  }

  put(name: string, value?: string, session?: string): Promise<Revision> {
    return this.committed([this.write(name, value, session)]);
  }

  async openSession(ttlMs = this.harness.ttlMs): Promise<string> {
    return (await this.store.openSession(ttlMs, CALL)).session;
  }

  /** Every entry of this fact, without the prefix. */
  async entries(store = this.store): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (let more = true; more;) {
      const after = entries.at(-1)?.key;
      // oxlint-disable-next-line no-await-in-loop -- a page begins where the last one ended.
      const page = await store.range(this.prefix, after === undefined ? CALL : { ...CALL, after });
      entries.push(...page.entries);
      more = page.more;
    }
    return entries.map((entry) => ({ ...entry, key: entry.key.slice(this.prefix.length) }));
  }

  async names(store = this.store): Promise<string[]> {
    return (await this.entries(store)).map(({ key }) => key);
  }

  async entry(name: string, store = this.store): Promise<Entry | undefined> {
    return (await this.entries(store)).find(({ key }) => key === name);
  }

  /** The store's revision now. */
  async revision(): Promise<Revision> {
    return (await this.store.range(this.prefix, CALL)).revision;
  }

  watch(after: Revision, prefix = this.prefix, store = this.store): Recording {
    return new Recording(store, prefix, after, this.prefix.length);
  }

  sleep(ms: number): Promise<void> {
    return this.harness.sleep(ms);
  }

  /** Waits until `holds`, looking again and again; fails by name. */
  async eventually(
    what: string,
    holds: () => boolean | Promise<boolean>,
    withinMs = EVENTUALLY_MS,
  ): Promise<void> {
    for (let waited = 0; waited <= withinMs; waited += STEP_MS) {
      // oxlint-disable-next-line no-await-in-loop -- looking again comes after a wait.
      if (await holds()) return;
      // oxlint-disable-next-line no-await-in-loop -- the same.
      await this.sleep(STEP_MS);
    }
    throw new Error(`not within ${withinMs} ms: ${what}`);
  }

  /** Waits until a write made now has reached the watch: whatever was to come before it has come. */
  async caughtUp(recording: Recording): Promise<void> {
    const revision = await this.put("~mark", `${recording.batches.length}`);
    await this.eventually(
      `the watch reaches revision ${revision}`,
      () => (recording.batches.at(-1)?.revision ?? 0) >= revision,
    );
  }
}

/** A watch that remembers what it was told, without batches that are empty. Marks of `caughtUp` are left out of `lines` and `told`. */
export class Recording {
  readonly batches: ChangeBatch[] = [];
  readonly ends: string[] = [];
  readonly #watch: Watch;
  readonly #cut: number;

  constructor(store: Store, prefix: string, after: Revision, cut: number) {
    this.#cut = cut;
    this.#watch = store.watch(prefix, after, {
      changes: (batch) => void (batch.changes.length > 0 && this.batches.push(batch)),
      relist: () => void this.ends.push("relist"),
      closed: () => void this.ends.push("closed"),
    });
  }

  close(): void {
    this.#watch.close();
  }

  /** Each batch as its changes in words: `+name=value` and `-name`. */
  get told(): string[][] {
    return this.batches
      .map(({ changes }) => changes.map((change) => this.#words(change)))
      .filter((words) => !words.some((word) => word.includes("~mark")));
  }

  get lines(): string[] {
    return this.told.flat();
  }

  /** The batch that deletes this key. */
  deletionOf(name: string): ChangeBatch | undefined {
    return this.batches.find(({ changes }) =>
      changes.some((change) => change.kind === "delete" && change.key.slice(this.#cut) === name),
    );
  }

  #words(change: Change): string {
    return change.kind === "put"
      ? `+${change.entry.key.slice(this.#cut)}=${change.entry.value}`
      : `-${change.key.slice(this.#cut)}`;
  }
}
