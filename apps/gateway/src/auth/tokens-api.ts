/**
 * Tokens over HTTP, for consoles and command lines: `/v1/fleet/tokens`. A token's text is in one answer, that of its making, and nowhere else. Only a
 * token with the scope admin and no limits to services or tenants gets here, so nobody can make one that may do more than themselves.
 */
import { route, type Api, type Clock, type Routes } from "@keelson/runtime";
import { z } from "zod";
import type { TokenKeeper } from "./token-keeper.ts";
import type { TokenSource } from "./token-source.ts";
import { createToken, type TokenRecord } from "./token.ts";

export interface TokensApiPorts {
  readonly keeper: TokenKeeper;
  /** Of the gateway that serves this: it is waited for, so that who was answered sees the change. */
  readonly source: TokenSource;
  readonly clock: Clock;
}

const scope = z.enum(["read", "write", "admin"]);
const names = z.array(z.string().min(1).max(200)).min(1).max(100).optional();
const tokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  scope,
  services: names,
  tenants: names,
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  expired: z.boolean(),
});

/** What the audit log keeps of it. */
const changeSchema = z.object({ before: tokenSchema.nullable(), after: tokenSchema.nullable() });

/** How long a gateway's own copy may take to hear of a change before the answer goes out without it. */
const HEARD_WITHIN_MS = 2_000;
const HEARD_LOOK_MS = 5;
const YEAR_MS = 365 * 24 * 3_600_000;

/** The fleet's API, with its tokens. Without ports, whoever asks is told how to have tokens. */
export function withTokens(fleet: Api, ports: TokensApiPorts | undefined): Api {
  return {
    ...fleet,
    http: { ...fleet.http, ...routes(ports) },
    errors: {
      ...fleet.errors,
      NO_SUCH_TOKEN: { status: 404, about: "no token has that id" },
      NO_TOKENS: { status: 409, about: "the gateway asks for no tokens; the text says how it would" },
      LAST_ADMIN: { status: 409, about: "without this token nobody could make another; `last=true` insists" },
    },
  };
}

class TokenRefusal extends Error {
  override readonly name = "TokenRefusal";
  readonly code: "NO_SUCH_TOKEN" | "NO_TOKENS" | "LAST_ADMIN";

  constructor(code: TokenRefusal["code"], message: string) {
    super(message);
    this.code = code;
  }
}

function routes(ports: TokensApiPorts | undefined): Routes {
  const need = (): TokensApiPorts => {
    if (ports) return ports;
    throw new TokenRefusal(
      "NO_TOKENS",
      "this gateway asks nobody for a token: start it with --tokens store, after keelson token create --store … made the first",
    );
  };
  return {
    tokens: route({
      verb: "GET",
      path: "/tokens",
      summary: "Which tokens there are; never their texts",
      scope: "admin",
      mode: "read",
      answer: z.object({ place: z.enum(["store", "file"]), tokens: z.array(tokenSchema) }),
      to: {
        kind: "custom",
        handle: async () => {
          const { keeper, clock } = need();
          const wall = clock.wall();
          return { place: keeper.place, tokens: (await keeper.list()).map((each) => shown(each, wall)) };
        },
      },
    }),
    createToken: route({
      verb: "POST",
      path: "/tokens",
      summary: "Make a token; its text is in this answer and nowhere else",
      scope: "admin",
      mode: "write",
      body: z.object({
        name: z.string().min(1).max(100),
        scope: scope.default("read"),
        services: names,
        tenants: names,
        expiresInMs: z
          .int()
          .min(1_000)
          .max(100 * YEAR_MS)
          .optional(),
      }),
      answer: z.object({ token: z.string(), created: tokenSchema, change: changeSchema }),
      to: {
        kind: "custom",
        handle: async ({ body }) => {
          const { keeper, clock, source } = need();
          const now = clock.wall();
          const { name, services, tenants, expiresInMs } = body;
          const { token, record } = createToken(
            {
              name,
              scope: body.scope,
              ...(services ? { services } : {}),
              ...(tenants ? { tenants } : {}),
              ...(expiresInMs === undefined ? {} : { expiresAt: now + expiresInMs }),
            },
            now,
          );
          await keeper.add(record);
          await heard(source, clock, () => source.find(record.id) !== undefined);
          const created = shown(record, now);
          return { token, created, change: { before: null, after: created } };
        },
      },
    }),
    revokeToken: route({
      verb: "DELETE",
      path: "/tokens/{id}",
      summary: "Revoke a token: it stops working at once, and so do streams that it opened",
      scope: "admin",
      mode: "write",
      idempotent: true,
      params: z.object({
        id: z.string().regex(/^[0-9a-f]{16}$/, "must be the id of a token: 16 hex digits"),
      }),
      query: z.object({
        last: z.stringbool().default(false).describe("even if nobody can make tokens without it"),
      }),
      answer: z.object({ revoked: tokenSchema, change: changeSchema }),
      to: {
        kind: "custom",
        handle: async ({ params: { id }, query: { last } }) => {
          const { keeper, clock, source } = need();
          const now = clock.wall();
          const known = await keeper.list();
          if (!last && isLastAdmin(known, id, now))
            throw new TokenRefusal(
              "LAST_ADMIN",
              "it is the last token that can make others: make one first, or insist with last=true",
            );
          const revoked = known.some((each) => each.id === id) ? await keeper.remove(id) : undefined;
          if (!revoked) throw new TokenRefusal("NO_SUCH_TOKEN", `there is no token ${id}`);
          await heard(source, clock, () => source.find(id) === undefined);
          return { revoked: shown(revoked, now), change: { before: shown(revoked, now), after: null } };
        },
      },
    }),
  };
}

function shown({ v: _, sha256: __, ...record }: TokenRecord, wallMs: number): z.output<typeof tokenSchema> {
  return { ...record, expired: isExpired(record, wallMs) };
}

function isExpired({ expiresAt }: Pick<TokenRecord, "expiresAt">, wallMs: number): boolean {
  return expiresAt !== undefined && expiresAt <= wallMs;
}

function isLastAdmin(tokens: readonly TokenRecord[], id: string, wallMs: number): boolean {
  const admins = tokens.filter(
    (token) => token.scope === "admin" && !token.services && !token.tenants && !isExpired(token, wallMs),
  );
  return admins.length === 1 && admins[0]?.id === id;
}

async function heard(source: TokenSource, clock: Clock, done: () => boolean): Promise<void> {
  const deadline = clock.now() + HEARD_WITHIN_MS;
  await source.refresh();
  while (!done() && clock.now() < deadline)
    await new Promise<void>((resolve) => void clock.after(HEARD_LOOK_MS, resolve));
}
