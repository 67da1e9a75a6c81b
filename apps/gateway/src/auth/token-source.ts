/** Where a gateway looks tokens up: a file, or the fleet's store by way of the copy it follows. Revoking is deleting; it works at once. */
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import type { Clock, ParsedKey } from "@keelson/runtime";
import { z } from "zod";
import { TokenRecord } from "./token.ts";

export interface TokenSource {
  find(id: string): TokenRecord | undefined;
  /** Called before the gateway listens. Rejects when the tokens cannot be read. */
  start(): Promise<void>;
  stop(): void;
  /** A key of the store changed; only a source that lives there listens. */
  keyChanged?(key: ParsedKey, value: string | undefined): void;
  /** Looks again now instead of when it would by itself. */
  refresh(): Promise<void>;
  /** Tells the ids of tokens that were revoked or changed, from now on. */
  watch(listener: (id: string) => void): void;
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
  const listeners: ((id: string) => void)[] = [];
  const load = async (): Promise<void> => {
    const { mtimeMs, size, ino } = await stat(path);
    const seen = `${mtimeMs} ${size} ${ino}`;
    if (seen === version) return;
    const before = tokens;
    tokens = new Map((await readTokenFile(path)).map((record) => [record.id, record]));
    version = seen;
    for (const [id, record] of before)
      if (JSON.stringify(tokens.get(id)) !== JSON.stringify(record)) for (const tell of listeners) tell(id);
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
    refresh: load,
    watch: (listener) => void listeners.push(listener),
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
  const listeners: ((id: string) => void)[] = [];
  return {
    find: (id) => tokens.get(id),
    start: () => Promise.resolve(),
    stop: () => undefined,
    // What is committed comes by itself, within the time that a watch takes.
    refresh: () => Promise.resolve(),
    watch: (listener) => void listeners.push(listener),
    keyChanged: ({ kind, rest }, value) => {
      if ((kind as string) !== TOKEN_KIND) return;
      const record = recordOf(value);
      const known = tokens.get(rest);
      if (record?.id === rest) tokens.set(rest, record);
      else tokens.delete(rest);
      if (known) for (const tell of listeners) tell(rest);
    },
  };
}

const TOKEN_KIND = "token";

export function tokenKey(fleet: string, id: string): string {
  return `/keelson/${fleet}/${TOKEN_KIND}/${id}`;
}

/** What a key of the store says; undefined when it says no token that this version can read. */
export function recordOf(value: string | undefined): TokenRecord | undefined {
  if (value === undefined) return undefined;
  try {
    return TokenRecord.safeParse(JSON.parse(value)).data;
  } catch {
    // Not JSON: somebody else wrote it. A token that cannot be read is none.
    return undefined;
  }
}
