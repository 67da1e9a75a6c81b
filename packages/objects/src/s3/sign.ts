/**
 * Signature Version 4, as S3 wants it: the request in one fixed form, hashed, and signed with a key that is derived once a day. The body's hash is part of
 * what is signed, so a body that arrives changed is refused by the server.
 */
import { createHash, createHmac } from "node:crypto";
import type { S3Credentials } from "./credentials.ts";

export interface RequestToSign {
  readonly method: string;
  readonly host: string;
  /** As it is sent: encoded. */
  readonly path: string;
  /** As it is sent: encoded, sorted, without the question mark. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** In hexadecimal. */
  readonly bodySha256: string;
  readonly wallMs: number;
}

export const EMPTY_SHA256 = sha256("");

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export class Signer {
  readonly #region: string;
  #key: { readonly day: string; readonly secret: string; readonly key: Buffer } | undefined;

  constructor(region: string) {
    this.#region = region;
  }

  /** All headers to send, the given ones among them. */
  sign(request: RequestToSign, credentials: S3Credentials): Record<string, string> {
    const time = new Date(request.wallMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    const day = time.slice(0, 8);
    const headers: Record<string, string> = {
      ...request.headers,
      host: request.host,
      "x-amz-content-sha256": request.bodySha256,
      "x-amz-date": time,
    };
    if (credentials.sessionToken !== undefined) headers["x-amz-security-token"] = credentials.sessionToken;
    const names = Object.keys(headers).sort();
    const signed = names.join(";");
    const canonical = [
      request.method,
      request.path,
      request.query,
      ...names.map((name) => `${name}:${headers[name]!.trim()}`),
      "",
      signed,
      request.bodySha256,
    ].join("\n");
    const scope = `${day}/${this.#region}/s3/aws4_request`;
    const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
    const signature = hmac(this.#keyOf(day, credentials.secretAccessKey), text).toString("hex");
    headers["authorization"] =
      `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return headers;
  }

  #keyOf(day: string, secret: string): Buffer {
    if (this.#key?.day !== day || this.#key.secret !== secret) {
      const parts = [day, this.#region, "s3", "aws4_request"];
      const key = parts.reduce<Buffer | string>((from, part) => hmac(from, part), `AWS4${secret}`) as Buffer;
      this.#key = { day, secret, key };
    }
    return this.#key.key;
  }
}

/** Everything but unreserved characters, as S3 counts them; a path keeps its slashes. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function encodePath(key: string): string {
  return key.split("/").map(encodePart).join("/");
}

/** Sorted by name, as it is signed. */
export function encodeQuery(values: Readonly<Record<string, string>>): string {
  return Object.keys(values)
    .sort()
    .map((name) => `${encodePart(name)}=${encodePart(values[name]!)}`)
    .join("&");
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
