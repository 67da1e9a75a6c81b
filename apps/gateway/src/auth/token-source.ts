/** Where a gateway looks tokens up: a file, or the fleet's store by way of the copy it follows. Revoking is deleting; it works at once. */
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import type { Clock, ParsedKey, Store } from "@keelson/runtime";
import { z } from "zod";
import { TokenRecord } from "./token.ts";

export interface TokenSource {
  find(id: string): TokenRecord | undefined;
  /** Called before the gateway listens. Rejects when the tokens cannot be read. */
  start(): Promise<void>;
  stop(): void;
  /** A key of the store changed; only a source that lives there listens. */
  keyChanged?(key: ParsedKey, value: string | undefined): void;
}

const FILE_LOOK_MS = 1_000;
const TokenFile = z.object({ tokens: z.array(TokenRecord) });

/** Tokens in a JSON file, `{"tokens": [record…]}`, read again when it changes. A file that becomes unreadable leaves the tokens as they were. */
export function tokensFromFile(
  path: string,
  clock: Clock,
  onProblem: (problem: string) => void = () => undefined,
): TokenSource {
  let tokens = new Map<string, TokenRecord>();
  let version = "";
  let stopped = false;
  const load = async (): Promise<void> => {
    const { mtimeMs, size, ino } = await stat(path);
    const seen = `${mtimeMs} ${size} ${ino}`;
    if (seen === version) return;
    tokens = new Map((await readTokenFile(path)).map((record) => [record.id, record]));
    version = seen;
  };
  const look = (): void => {
    if (stopped) return;
    clock.after(FILE_LOOK_MS, () => {
      load()
        .catch((error: unknown) => onProblem(`tokens stay as they were: ${String(error)}`))
        .finally(look);
    });
  };
  return {
    find: (id) => tokens.get(id),
    start: async () => {
      await load();
      look();
    },
    stop: () => {
      stopped = true;
    },
  };
}

export async function readTokenFile(path: string): Promise<TokenRecord[]> {
  const text = await readFile(path, "utf8");
  const checked = TokenFile.safeParse(JSON.parse(text));
  // Not the text itself: it holds hashes.
  if (!checked.success) throw new Error(`${path} is no token file: ${z.prettifyError(checked.error)}`);
  return checked.data.tokens;
}

/** Replaces the file in one step, readable by its owner only. */
export async function writeTokenFile(path: string, tokens: readonly TokenRecord[]): Promise<void> {
  const draft = `${path}.new`;
  await writeFile(draft, `${JSON.stringify({ tokens }, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(draft, path);
}

/** Tokens in the fleet's store, under `token/<id>`. They come with the copy that the gateway follows, so they go on working when it is cut off. */
export function tokensFromStore(): TokenSource {
  const tokens = new Map<string, TokenRecord>();
  return {
    find: (id) => tokens.get(id),
    start: () => Promise.resolve(),
    stop: () => undefined,
    keyChanged: ({ kind, rest }, value) => {
      if ((kind as string) !== TOKEN_KIND) return;
      const record = value === undefined ? undefined : TokenRecord.safeParse(JSON.parse(value));
      if (record?.success === true && record.data.id === rest) tokens.set(rest, record.data);
      else tokens.delete(rest);
    },
  };
}

const TOKEN_KIND = "token";

export function tokenKey(fleet: string, id: string): string {
  return `/keelson/${fleet}/${TOKEN_KIND}/${id}`;
}

/** Keeps a token in the fleet's store, or revokes it when there is no record. */
export async function storeToken(
  store: Store,
  fleet: string,
  id: string,
  record: TokenRecord | undefined,
  timeoutMs: number,
): Promise<void> {
  const key = tokenKey(fleet, id);
  const { incarnation } = await store.range(key, { timeoutMs, limit: 1 });
  const write = record
    ? { kind: "put" as const, key, value: JSON.stringify(record) }
    : { kind: "delete" as const, key };
  const outcome = await store.commit({ guards: [], writes: [write] }, { timeoutMs, incarnation });
  if (outcome.kind !== "committed") throw new Error(`the store did not take token ${id}: ${outcome.kind}`);
}
