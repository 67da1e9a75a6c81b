/** Lets a caller in: who it is, as far as its token says, and whether it has not asked too much already. HTTP and gRPC both come through here. */
import type { Principal } from "@keelson/runtime";
import type { RateLimits } from "../rate/rate-limits.ts";
import type { Authority } from "./authority.ts";

export interface Caller {
  /** The header. */
  readonly authorization: string | undefined;
  /** Of the connection. */
  readonly address: string | undefined;
}

/** Whoever asks for something that needs no token. */
const NOBODY: Principal = { name: "nobody", scope: "read" };

export class Admission {
  readonly authority: Authority;
  readonly #rates: RateLimits;

  constructor(authority: Authority, rates: RateLimits) {
    this.authority = authority;
    this.#rates = rates;
  }

  /** `open`: no token is needed. `free`: it counts against no limit. Throws Problem UNAUTHORISED or SHED. */
  admit(
    { authorization, address }: Caller,
    { open, free }: { readonly open: boolean; readonly free: boolean },
  ): Principal {
    const principal = open ? NOBODY : this.#identify(authorization, address);
    if (!free) this.#rates.admit(principal, address);
    return principal;
  }

  #identify(authorization: string | undefined, address: string | undefined): Principal {
    try {
      return this.authority.identify(authorization);
    } catch (error) {
      this.#rates.refused(address);
      throw error;
    }
  }
}
