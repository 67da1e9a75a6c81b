/**
 * Whether a push that a server tells of is signed with a secret that it shares with this fleet. It knows the ways of GitHub, Gitea, Forgejo, Gogs and Bitbucket (an HMAC over the body as it
 * came), of GitLab's secret token (the secret itself), and of its signing token (an HMAC over id, time and body, as the Standard Webhooks have it). There may be several secrets, for as long as
 * one is exchanged for another. It reads them when it is asked; nothing that it says holds any of them.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Turns } from "./engine/index.ts";
import { GitError, type SecretSource } from "./git/index.ts";

/** Headers that may have a signature; any that is right will do. Bitbucket calls by the third what elsewhere is a SHA-1, which is not taken. */
export const SIGNATURES = [
  "x-hub-signature-256",
  "x-gitea-signature",
  "x-hub-signature",
  "x-gitlab-token",
  "webhook-signature",
  "x-forgejo-signature",
  "x-gogs-signature",
] as const;

/** What is signed besides the body with `webhook-signature`. GitLab sends them with every webhook, signed or not. */
export const SIGNED_WITH = ["webhook-id", "webhook-timestamp"] as const;

/** So many secrets can be in use at once: each is tried on what anybody sends. */
export const webhookSecretsMax = 4;

/** A secret that was exchanged is read again when a signature is wrong, but not for each of a thousand wrong ones. */
const freshMs = 5_000;
/** What was signed longer ago, or later by a clock that is as wrong, may have been overheard. */
const signedMsMax = 300_000;
/** A body of megabytes is read in steps, with turns for others. */
const STEP_BYTES = 262_144;
/** Of one header, which may have one for each secret that the sender is exchanging. */
const signaturesMax = 8;
const SHA256_HEX = /^(?:sha256=)?([0-9a-f]{64})$/i;
const SHA256_BASE64 = /^v1,([A-Za-z0-9+/]{43}=)$/;
const SIGNING_TOKEN = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

export interface SignedPush {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface CheckClock {
  now(): number;
  /** What senders say is by this one. */
  wall(): number;
}

export class WebhookCheck {
  readonly #sources: readonly SecretSource[];
  readonly #clock: CheckClock;
  #freshAt = -Infinity;

  /** Without a source, no signature is right. */
  constructor(sources: readonly SecretSource[], clock: CheckClock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  /** Whether there is a secret to check with. */
  get checks(): boolean {
    return this.#sources.length > 0;
  }

  /** Undefined when it is rightly signed. Throws GitError when no secret fits and one cannot be read. */
  async problemOf(push: SignedPush): Promise<string | undefined> {
    if (!this.checks)
      return "it is signed, but there is nothing to check that with: set webhookSecret in [code] of the nodes, or send a token";
    if (!SIGNATURES.some((name) => push.headers[name] !== undefined))
      return "it is not signed: give the webhook a secret of the fleet, or send a token";
    const late = lateness(push, this.#clock.wall());
    const claims = claimsOf(push, late === undefined);
    if (claims.length === 0) return late ?? WRONG;
    const kept = await this.#fits(claims, false);
    if (kept.fits) return undefined;
    let { failed } = kept;
    const now = this.#clock.now();
    if (now - this.#freshAt >= freshMs) {
      this.#freshAt = now;
      const fresh = await this.#fits(claims, true);
      if (fresh.fits) return undefined;
      ({ failed } = fresh);
    }
    if (failed) throw failed;
    return late ?? WRONG;
  }

  /** Whether any secret fits any claim. One that cannot be read keeps no other from being tried. */
  async #fits(claims: readonly Claim[], fresh: boolean): Promise<{ fits: boolean; failed?: GitError }> {
    let failed: GitError | undefined;
    const turns = new Turns();
    for (const source of this.#sources) {
      const secret = await source.read(fresh).catch(unreadable);
      if (secret instanceof GitError) failed ??= secret;
      else for (const claim of claims) if (await claim(secret, turns)) return { fits: true };
    }
    return { fits: false, ...(failed && { failed }) };
  }
}

function unreadable(error: unknown): GitError {
  if (error instanceof GitError) return error;
  throw error;
}

const WRONG =
  "the signature is wrong: the webhook needs a secret that is a webhookSecret of the nodes too, and SHA-256";

/** Whether a secret is the one that something was signed with. */
type Claim = (secret: string, turns: Turns) => boolean | Promise<boolean>;

/** What the headers say, as far as it can be right: what has not the form of a signature costs nothing. */
function claimsOf({ headers, body }: SignedPush, isTimely: boolean): Claim[] {
  const claims: Claim[] = [];
  const token = headers["x-gitlab-token"];
  if (token !== undefined) claims.push((secret) => timingSafeEqual(digest(token), digest(secret)));
  const ofBody: Buffer[] = [];
  for (const name of SIGNATURES) {
    const hex = SHA256_HEX.exec(headers[name] ?? "")?.[1];
    if (name !== "x-gitlab-token" && name !== "webhook-signature" && hex !== undefined)
      ofBody.push(Buffer.from(hex, "hex"));
  }
  if (ofBody.length > 0)
    claims.push(async (secret, turns) => isAny(ofBody, await hmac(secret, [body], turns)));
  const { "webhook-id": id = "", "webhook-timestamp": time = "" } = headers;
  const given = (headers["webhook-signature"] ?? "").split(" ", signaturesMax);
  const ofAll = given.flatMap((each) => {
    const base64 = SHA256_BASE64.exec(each)?.[1];
    return base64 === undefined ? [] : [Buffer.from(base64, "base64")];
  });
  if (ofAll.length > 0 && isTimely)
    claims.push(async (secret, turns) => {
      const key = SIGNING_TOKEN.exec(secret)?.[1];
      if (key === undefined) return false;
      const signed = [Buffer.from(`${id}.${time}.`), body];
      return isAny(ofAll, await hmac(Buffer.from(key, "base64"), signed, turns));
    });
  return claims;
}

/** What is wrong with the time that a signature names. */
function lateness({ headers }: SignedPush, wall: number): string | undefined {
  if (headers["webhook-signature"] === undefined) return undefined;
  const time = headers["webhook-timestamp"] ?? "";
  if (!/^\d{1,12}$/.test(time) || (headers["webhook-id"] ?? "") === "")
    return "webhook-signature needs webhook-id, and webhook-timestamp in seconds";
  const awayMs = Math.abs(wall - Number(time) * 1_000);
  if (awayMs <= signedMsMax) return undefined;
  return `it was signed ${Math.round(awayMs / 1_000)} s away from the time here, and ${signedMsMax / 1_000} are allowed: send it again, or look at both clocks`;
}

async function hmac(key: string | Buffer, parts: readonly Uint8Array[], turns: Turns): Promise<Buffer> {
  const made = createHmac("sha256", key);
  for (const part of parts)
    for (let at = 0; at < part.length; at += STEP_BYTES) {
      made.update(part.subarray(at, at + STEP_BYTES));
      if (turns.due) await turns.give();
    }
  return made.digest();
}

/** Looks at all of them, whichever is right. */
function isAny(given: readonly Buffer[], expected: Buffer): boolean {
  let is = false;
  for (const each of given) is = timingSafeEqual(each, expected) || is;
  return is;
}

/** Of one length, whatever is compared. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
