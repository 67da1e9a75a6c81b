/**
 * A bearer token and what is kept of it. The token is `keelson_<id>_<secret>`; kept is the SHA-256 of the secret, which has 256 random bits, so a
 * slow hash would add nothing. The id finds the record, so a check costs one hash however many tokens there are.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Principal, Scope } from "@keelson/runtime";
import { z } from "zod";

export const TokenRecord = z.object({
  v: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{16}$/),
  /** For people: who has it. */
  name: z.string().min(1).max(100),
  /** Of the secret, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  scope: z.enum(["read", "write", "admin"]),
  services: z.array(z.string()).optional(),
  tenants: z.array(z.string()).optional(),
  /** Milliseconds since 1970. */
  createdAt: z.int(),
  expiresAt: z.int().optional(),
});

export type TokenRecord = z.output<typeof TokenRecord>;

export interface NewToken {
  readonly name: string;
  readonly scope: Scope;
  readonly services?: readonly string[];
  readonly tenants?: readonly string[];
  readonly expiresAt?: number;
}

const FORMAT = /^keelson_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** Makes a token. The text is shown once, and nowhere kept. */
export function createToken(wanted: NewToken, createdAt: number): { token: string; record: TokenRecord } {
  const id = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const { name, scope, services, tenants, expiresAt } = wanted;
  const record = TokenRecord.parse({
    v: 1,
    id,
    name,
    sha256: hashOf(secret).toString("hex"),
    scope,
    createdAt,
    ...(services ? { services } : {}),
    ...(tenants ? { tenants } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  return { token: `keelson_${id}_${secret}`, record };
}

/** Tokens whose hash need not be taken again. */
const KNOWN_MAX = 1_024;

/** Checks tokens. One that was found good is known by its text until its record changes, which saves the hash on every request after the first. */
export class TokenCheck {
  readonly #find: (id: string) => TokenRecord | undefined;
  readonly #known = new Map<string, { readonly record: TokenRecord; readonly principal: Principal }>();

  constructor(find: (id: string) => TokenRecord | undefined) {
    this.#find = find;
  }

  /** Who shows this token, if it is one that has a record and has not expired. */
  principalOf(token: string, wallMs: number): Principal | undefined {
    const [, id = "", secret = ""] = FORMAT.exec(token) ?? [];
    const record = id === "" ? undefined : this.#find(id);
    if (!record || (record.expiresAt !== undefined && record.expiresAt <= wallMs)) return undefined;
    const known = this.#known.get(token);
    if (known?.record === record) return known.principal;
    if (!timingSafeEqual(hashOf(secret), Buffer.from(record.sha256, "hex"))) return undefined;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    const { name, scope, services, tenants, expiresAt } = record;
    const principal: Principal = {
      name,
      tokenId: id,
      scope,
      ...(services ? { services } : {}),
      ...(tenants ? { tenants } : {}),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    this.#known.set(token, { record, principal });
    return principal;
  }
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
