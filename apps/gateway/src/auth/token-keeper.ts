/**
 * Where tokens are made and revoked while gateways run: the fleet's store, which reaches every gateway with the copy it follows, or a file, which its
 * gateways read again. What is kept is never the token itself.
 */
import { link, open, rename, rm, stat } from "node:fs/promises";
import { AdminError, type Store } from "@keelson/runtime";
import { readTokenFile, recordOf, tokenKey, writeTokenFile } from "./token-source.ts";
import type { TokenRecord } from "./token.ts";

export interface TokenKeeper {
  readonly place: "store" | "file";
  /** In the order of their ids. */
  list(): Promise<readonly TokenRecord[]>;
  /** Rejects when there are `TOKENS_MAX` already. */
  add(record: TokenRecord): Promise<void>;
  /** What was revoked; undefined when there was no such token. */
  remove(id: string): Promise<TokenRecord | undefined>;
}

/** One file, or a few pages of the store; every gateway has all of them in memory. */
const TOKENS_MAX = 10_000;

const PAGE_KEYS = 500;
const WRITE_TRIES = 5;

export function tokensInStore(store: Store, fleet: string, timeoutMs: number): TokenKeeper {
  const prefix = tokenKey(fleet, "");
  const list = async (): Promise<TokenRecord[]> => {
    const records: TokenRecord[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await store.range(prefix, {
        timeoutMs,
        limit: PAGE_KEYS,
        ...(after === undefined ? {} : { after }),
      });
      for (const { value } of page.entries) {
        const record = recordOf(value);
        if (record) records.push(record);
      }
      after = page.entries.at(-1)?.key;
      if (!page.more || after === undefined || records.length >= TOKENS_MAX) return records;
    }
  };
  const write = async (id: string, record: TokenRecord | undefined): Promise<TokenRecord | undefined> => {
    const key = tokenKey(fleet, id);
    for (let tries = 0; tries < WRITE_TRIES; tries++) {
      const { entries, incarnation } = await store.range(key, { timeoutMs, limit: 1 });
      const entry = entries.find((each) => each.key === key);
      if (!record && !entry) return undefined;
      const outcome = await store.commit(
        {
          guards: [{ key, revision: entry?.revision ?? 0 }],
          writes: [record ? { kind: "put", key, value: JSON.stringify(record) } : { kind: "delete", key }],
        },
        { timeoutMs, incarnation },
      );
      if (outcome.kind === "committed") return record ?? recordOf(entry?.value);
    }
    throw new AdminError("CONFLICT", `others kept changing token ${id}: try again`);
  };
  return {
    place: "store",
    list,
    async add(record) {
      if ((await list()).length >= TOKENS_MAX) throw full();
      await write(record.id, record);
    },
    remove: (id) => write(id, undefined),
  };
}

/** A file that is not there yet is made by the first `add`. */
export function tokensInFile(path: string): TokenKeeper {
  const read = (): Promise<TokenRecord[]> =>
    readTokenFile(path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    });
  return {
    place: "file",
    list: async () => (await read()).sort((a, b) => (a.id < b.id ? -1 : 1)),
    add: (record) =>
      locked(path, async () => {
        const known = await read();
        if (known.length >= TOKENS_MAX) throw full();
        await writeTokenFile(path, [...known, record]);
      }),
    remove: (id) =>
      locked(path, async () => {
        const known = await read();
        const removed = known.find((record) => record.id === id);
        if (removed)
          await writeTokenFile(
            path,
            known.filter((record) => record !== removed),
          );
        return removed;
      }),
  };
}

function full(): AdminError {
  return new AdminError("NOT_POSSIBLE", `there are ${TOKENS_MAX} tokens already: revoke some`);
}

const LOCK_TRIES = 100;
const LOCK_WAIT_MS = 50;
/** A change takes milliseconds: whoever has the lock for longer has died with it. */
const LOCK_STALE_MS = 10_000;

/** One change of the file at a time, over all processes: a change reads, works out and replaces, and would lose one that is made in between. */
async function locked<T>(path: string, change: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  for (let tries = 1; ; tries++) {
    try {
      await (await open(lock, "wx", 0o600)).close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (tries >= LOCK_TRIES)
        throw new AdminError(
          "CONFLICT",
          `${path} is being changed by another process: remove ${lock} if there is none`,
          { cause: error },
        );
      if (!(await removeStale(lock))) await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
    }
  }
  try {
    return await change();
  } finally {
    await rm(lock, { force: true });
  }
}

/**
 * Takes a lock away whose owner died with it; false when there is none such. Several may find the same one: it is moved aside first, which only one of them can do, and looked at
 * again there. Who finds that it moved a new owner's lock puts it back.
 */
async function removeStale(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => undefined);
  if (!found || Date.now() - found.mtimeMs <= LOCK_STALE_MS) return false;
  const aside = `${lock}.${process.pid}.${process.hrtime.bigint()}`;
  try {
    await rename(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  const { ino, mtimeMs } = await stat(aside);
  const stale = ino === found.ino && mtimeMs === found.mtimeMs;
  if (!stale)
    await link(aside, lock).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    });
  await rm(aside, { force: true });
  return stale;
}
