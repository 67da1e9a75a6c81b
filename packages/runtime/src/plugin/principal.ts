/** Who asks, as far as a token says: its name and what it may do. */
import type { Scope } from "./route.ts";

export interface Principal {
  /** The token's name, for logs and audits; never the token. */
  readonly name: string;
  /** The id of the token's record; undefined when nobody was asked for a token. */
  readonly tokenId?: string;
  /** What it may do at most. */
  readonly scope: Scope;
  /** Services it may use; undefined means all. */
  readonly services?: readonly string[];
  /** Tenants it may use; undefined means all. */
  readonly tenants?: readonly string[];
  /** Wall clock in ms, after which it is no longer good; undefined means never. */
  readonly expiresAt?: number;
}

const RANK: Readonly<Record<Scope, number>> = { read: 0, write: 1, admin: 2 };

export interface Wanted {
  readonly service: string;
  readonly scope: Scope;
  /** Undefined: it concerns no tenant in particular, and so all of them. */
  readonly tenant?: string | undefined;
}

/** Why the principal may not do it, as the end of a sentence; undefined when it may. */
export function refusal(principal: Principal, wanted: Wanted): string | undefined {
  const { service, scope, tenant } = wanted;
  if (RANK[principal.scope] < RANK[scope]) return `has the scope ${principal.scope}, and this needs ${scope}`;
  if (principal.services && !principal.services.includes(service)) return `is not for the service ${service}`;
  if (!principal.tenants) return undefined;
  if (tenant === undefined) return "is limited to tenants, and this concerns all of them";
  return principal.tenants.includes(tenant) ? undefined : `is not for this tenant`;
}
