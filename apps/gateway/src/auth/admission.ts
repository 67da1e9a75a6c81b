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

  /** What it was let in with was not good. Throws Problem SHED when that is so too often from there. */
  refused({ address }: Pick<Caller, "address">): void {
    this.#rates.refused(address);
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
