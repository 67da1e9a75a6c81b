/** Where a gateway's bearer tokens are, as `--tokens` says: a file, or the fleet's store. */
import { tokensFromFile, tokensFromStore, type TokenSource } from "@keelson/gateway";
import type { Clock } from "@keelson/kernel";
import { UsageError } from "../failure.ts";

export function openTokens(where: string, clock: Clock, problem: (text: string) => void): TokenSource {
  if (where === "store") return tokensFromStore();
  const source = tokensFromFile(where, clock, problem);
  return {
    ...source,
    async start() {
      try {
        await source.start();
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        throw new UsageError(
          code === "ENOENT"
            ? `there is no token file ${where}: make one with keelson token add --tokens ${where}`
            : message,
          { cause: error },
        );
      }
    },
  };
}
