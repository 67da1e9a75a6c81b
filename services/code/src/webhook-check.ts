/**
 * Whether a push that a server tells of is signed with the secret that it shares with this fleet. It knows the ways of GitHub, Gitea, Forgejo, Gogs and Bitbucket (an HMAC over the body as it
 * came) and of GitLab (the secret itself). It reads the secret when it is asked; nothing that it says holds any of it.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { SecretSource } from "./git/index.ts";

/** Headers that may have a signature; any that is right will do. Bitbucket calls by the third what elsewhere is a SHA-1, which is not taken. */
export const SIGNATURES = [
  "x-hub-signature-256",
  "x-gitea-signature",
  "x-hub-signature",
  "x-gitlab-token",
  "x-forgejo-signature",
  "x-gogs-signature",
] as const;

/** A secret that was exchanged is read again when a signature is wrong, but not for each of a thousand wrong ones. */
const freshMs = 5_000;
const SHA256_HEX = /^(?:sha256=)?([0-9a-f]{64})$/i;

export interface SignedPush {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export class WebhookCheck {
  readonly #source: SecretSource | undefined;
  readonly #now: () => number;
  #freshAt = -Infinity;

  /** Without a source, no signature is right. */
  constructor(source: SecretSource | undefined, now: () => number) {
    this.#source = source;
    this.#now = now;
  }

  /** Whether there is a secret to check with. */
  get checks(): boolean {
    return this.#source !== undefined;
  }

  /** Undefined when it is rightly signed. Throws GitError when the secret cannot be read. */
  async problemOf(push: SignedPush): Promise<string | undefined> {
    if (!this.#source)
      return "it is signed, but there is nothing to check that with: set webhookSecret in [code] of the nodes, or send a token";
    if (!SIGNATURES.some((name) => push.headers[name] !== undefined))
      return "it is not signed: give the webhook the secret of the fleet, or send a token";
    if (isRight(push, await this.#source.read())) return undefined;
    const now = this.#now();
    if (now - this.#freshAt >= freshMs) {
      this.#freshAt = now;
      if (isRight(push, await this.#source.read(true))) return undefined;
    }
    return "the signature is wrong: the webhook needs the same secret as webhookSecret of the nodes, and SHA-256";
  }
}

function isRight({ headers, body }: SignedPush, secret: string): boolean {
  const expected = createHmac("sha256", secret).update(body).digest();
  return SIGNATURES.some((name) => {
    const given = headers[name];
    if (given === undefined) return false;
    if (name === "x-gitlab-token") return timingSafeEqual(digest(given), digest(secret));
    const hex = SHA256_HEX.exec(given)?.[1];
    return hex !== undefined && timingSafeEqual(Buffer.from(hex, "hex"), expected);
  });
}

/** Of one length, whatever is compared. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
