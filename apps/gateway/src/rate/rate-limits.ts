/** How much one caller may ask: by its token, or by its address when it shows none; and how often an address may show tokens that are not taken. */
import { isIPv6 } from "node:net";
import type { Clock, Principal } from "@keelson/runtime";
import { Problem } from "../problem.ts";
import { RateLimit } from "./rate-limit.ts";

export interface RateLimitTerms {
  readonly tokenRequestsPerSecondMax: number;
  readonly addressRequestsPerSecondMax: number;
  readonly refusalsPerSecondMax: number;
  readonly rateKeysMax: number;
}

/** A burst is what comes in so many seconds. */
const BURST_SECONDS = 2;
/** A page that was left open with an old token asks a few times before its reader notices. */
const REFUSALS_BURST_SECONDS = 10;

export class RateLimits {
  readonly #tokens: RateLimit;
  readonly #addresses: RateLimit;
  readonly #refusals: RateLimit;

  constructor(terms: RateLimitTerms, clock: Clock) {
    const make = (perSecond: number, seconds: number): RateLimit =>
      new RateLimit({ perSecond, burst: Math.ceil(perSecond * seconds), keysMax: terms.rateKeysMax }, clock);
    this.#tokens = make(terms.tokenRequestsPerSecondMax, BURST_SECONDS);
    this.#addresses = make(terms.addressRequestsPerSecondMax, BURST_SECONDS);
    this.#refusals = make(terms.refusalsPerSecondMax, REFUSALS_BURST_SECONDS);
  }

  /** Throws Problem SHED. */
  admit(principal: Principal | undefined, address: string | undefined): void {
    const tokenId = principal?.tokenId;
    if (tokenId === undefined) check(this.#addresses.take(networkOf(address)), "this address");
    else check(this.#tokens.take(tokenId), `the token ${principal?.name ?? ""}`);
  }

  /** A token was not taken. Throws Problem SHED when that is so too often from there, which then is the answer. */
  refused(address: string | undefined): void {
    check(this.#refusals.take(networkOf(address)), "this address, with tokens that are not taken");
  }

  get keys(): number {
    return this.#tokens.keys + this.#addresses.keys + this.#refusals.keys;
  }
}

function check(waitMs: number, whose: string): void {
  if (waitMs <= 0) return;
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  throw new Problem("SHED", `too many requests of ${whose}: come back in ${seconds} s`, {
    details: { reason: "rate" },
    headers: { "retry-after": String(seconds) },
  });
}

/** One household has a whole /64 of IPv6 addresses: they count as one. */
function networkOf(address: string | undefined): string {
  if (address === undefined) return "unknown";
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("%")[0]!.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [
    ...front,
    ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0"),
    ...back,
  ];
  return groups.slice(0, 4).join(":");
}
