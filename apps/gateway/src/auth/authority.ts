/** Decides who asks and whether they may: from the Authorization header to a principal, or to a refusal that says what is missing. */
import { refusal, type Clock, type Principal, type Scope, type Wanted } from "@keelson/runtime";
import { Problem } from "../problem.ts";
import { LiveRequests } from "./live-requests.ts";
import { TokenCheck } from "./token.ts";
import type { TokenSource } from "./token-source.ts";

/** Whoever reaches a gateway that asks for no tokens. */
const ANYONE: Principal = { name: "anyone", scope: "admin" };
const CHALLENGE = { "www-authenticate": 'Bearer realm="keelson"' } as const;
/** Longer than any token: not worth looking at. */
const HEADER_CHARS_MAX = 256;

/** For how long tokens are taken while nothing is heard of the fleet, and so of tokens that were revoked. */
export interface TokenTrust {
  /** 0: for as long as it takes. */
  readonly staleMsMax: number;
  readonly staleMs: () => number;
}

export class Authority {
  /** Undefined when nobody needs a token. */
  readonly #check: TokenCheck | undefined;
  readonly #clock: Clock;
  readonly #trust: TokenTrust | undefined;
  /** Ended when their token is no longer good. */
  readonly live: LiveRequests;

  constructor(tokens: TokenSource | undefined, clock: Clock, trust?: TokenTrust) {
    this.#trust = trust;
    this.#check = tokens && new TokenCheck((id) => tokens.find(id));
    this.#clock = clock;
    this.live = new LiveRequests(clock);
    tokens?.watch((id) => this.live.revoked(id));
  }

  /** Whether anybody needs a token. */
  get asks(): boolean {
    return this.#check !== undefined;
  }

  /** Throws Problem UNAUTHORISED, or NOT_READY when too much may have been revoked unheard. Never says why a token is not taken: that would help to guess one. */
  identify(authorization: string | undefined): Principal {
    if (!this.#check) return ANYONE;
    this.#requireNews();
    if (authorization === undefined)
      throw unauthorised("this needs a token: send authorization: Bearer <token>");
    const [, token] =
      (authorization.length <= HEADER_CHARS_MAX && /^bearer +(\S+)$/i.exec(authorization)) || [];
    const principal = token === undefined ? undefined : this.#check.principalOf(token, this.#clock.wall());
    if (!principal) throw unauthorised("this token is not taken: ask an operator for another");
    return principal;
  }

  #requireNews(): void {
    if (!this.#trust || this.#trust.staleMsMax === 0) return;
    const staleMs = this.#trust.staleMs();
    if (staleMs > this.#trust.staleMsMax)
      throw new Problem(
        "NOT_READY",
        `the gateway has not heard of the fleet for ${Math.floor(staleMs / 1_000)} s, and cannot tell which tokens are good`,
        { headers: { "retry-after": "5" } },
      );
  }

  /** Whether it may use the service at all; which tenant it asks for is known only once its input is read. Throws Problem FORBIDDEN. */
  permitService({ tenants: _, ...principal }: Principal, service: string, scope: Scope): void {
    this.permit(principal, { service, scope });
  }

  /** Throws Problem FORBIDDEN. */
  permit(principal: Principal, wanted: Wanted): void {
    const why = refusal(principal, wanted);
    if (why !== undefined) throw new Problem("FORBIDDEN", `the token ${principal.name} ${why}`);
  }
}

/** What a request under way is told when its token is revoked or expires. */
export function noLongerGood(): Problem {
  return unauthorised("the token that opened this was revoked, changed or has expired");
}

function unauthorised(message: string): Problem {
  return new Problem("UNAUTHORISED", message, { headers: CHALLENGE });
}
