/** Where a gateway's bearer tokens are, as `--tokens` says: a file, or the fleet's store; where it looks them up, and where they are made and revoked. */
import {
  tokensFromFile,
  tokensFromStore,
  tokensInFile,
  tokensInStore,
  type TokenKeeper,
  type TokenSource,
} from "@keelson/gateway";
import type { Clock, Store } from "@keelson/kernel";
import { UsageError } from "../failure.ts";

export interface OpenedTokens {
  readonly source: TokenSource;
  readonly keeper: TokenKeeper;
}

const STORE_TIMEOUT_MS = 5_000;

/** Undefined when nobody needs a token. */
export function openTokens(
  where: string | undefined,
  ports: {
    readonly fleet: string;
    readonly store: Store;
    readonly clock: Clock;
    readonly problem: (text: string) => void;
  },
): OpenedTokens | undefined {
  if (where === undefined) return undefined;
  const { fleet, store, clock, problem } = ports;
  if (where === "store")
    return { source: tokensFromStore(), keeper: tokensInStore(store, fleet, STORE_TIMEOUT_MS) };
  return { source: fileSource(where, clock, problem), keeper: tokensInFile(where) };
}

function fileSource(path: string, clock: Clock, problem: (text: string) => void): TokenSource {
  const source = tokensFromFile(path, clock, problem);
  return {
    ...source,
    async start() {
      try {
        await source.start();
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        throw new UsageError(
          code === "ENOENT"
            ? `there is no token file ${path}: make one with keelson token create <name> --scope admin --tokens ${path}`
            : message,
          { cause: error },
        );
      }
    },
  };
}
