/**
 * Tokens as the command line reaches them: at a gateway, for a fleet that runs; in the store, for the first token of a fleet; or in a token file. The three do
 * the same, so that the verbs need not know which it is.
 */
import { createToken, type NewToken, type TokenKeeper, type TokenRecord } from "@keelson/gateway";
import { RunError } from "../failure.ts";
import type { GatewayDoor } from "./gateway-door.ts";

export type ShownToken = Omit<TokenRecord, "v" | "sha256">;

interface WantedToken extends Omit<NewToken, "expiresAt"> {
  readonly expiresInMs?: number;
}

export interface TokenDesk {
  /** Where the tokens are, for people. */
  readonly place: string;
  list(): Promise<readonly ShownToken[]>;
  /** The text is shown once, and nowhere kept. */
  create(wanted: WantedToken): Promise<{ readonly token: string; readonly created: ShownToken }>;
  revoke(id: string, options: { readonly last: boolean }): Promise<void>;
}

const PATH = "/v1/fleet/tokens";

export function gatewayDesk(door: GatewayDoor): TokenDesk {
  return {
    place: `the gateway at ${door.url}`,
    list: async () => ((await door.ask("GET", PATH)) as { tokens: ShownToken[] }).tokens,
    create: async (wanted) =>
      (await door.ask("POST", PATH, wanted)) as Awaited<ReturnType<TokenDesk["create"]>>,
    revoke: async (id, { last }) => {
      await door.ask("DELETE", `${PATH}/${encodeURIComponent(id)}${last ? "?last=true" : ""}`);
    },
  };
}

/** Straight in the store or the file: whoever can write there needs nobody's leave. */
export function keeperDesk(keeper: TokenKeeper, place: string): TokenDesk {
  return {
    place,
    list: async () => (await keeper.list()).map(shown),
    async create({ expiresInMs, ...wanted }) {
      const now = Date.now();
      const expiry = expiresInMs === undefined ? {} : { expiresAt: now + expiresInMs };
      const { token, record } = createToken({ ...wanted, ...expiry }, now);
      await keeper.add(record);
      return { token, created: shown(record) };
    },
    async revoke(id) {
      if (!(await keeper.remove(id))) throw new RunError(`there is no token ${id} any more`);
    },
  };
}

function shown({ v: _, sha256: __, ...record }: TokenRecord): ShownToken {
  return record;
}
