/**
 * Objects in a bucket of S3 or of a server that speaks its protocol. Put-if-absent is `If-None-Match: *`; every put carries a random token in the object's
 * metadata, so that a writer that missed the answer can see whether the object is its own. Bytes are checked by the server when they arrive (the body's
 * hash is signed) and by us when they come back (they are sealed).
 */
import { createHash } from "node:crypto";
import type { Clock, Random } from "@keelson/kernel";
import {
  OBJECT_LIMITS,
  type GetOptions,
  type ListOptions,
  type ObjectCallOptions,
  type ObjectInfo,
  type ObjectPage,
  type Objects,
  type PutIfAbsentOutcome,
  type RangeOptions,
  type StoredObject,
} from "../contract.ts";
import { Deadline } from "../deadline.ts";
import { ObjectError } from "../errors.ts";
import { checkKey } from "../keys.ts";
import { checkBody, checkKeys, checkList, checkRange, tooLarge } from "../limits.ts";
import { storedBytes } from "../sealed/layout.ts";
import { seal } from "../sealed/seal.ts";
import { requireSize, storedRange, unseal, unsealRange } from "../sealed/unseal.ts";
import type { S3Answer } from "./answers.ts";
import { S3Client, UnseenEnd, type RequestKind, type RequestTerms } from "./client.ts";
import type { S3Address, S3Request } from "./connection.ts";
import type { CredentialsSource } from "./credentials.ts";
import { deleteRequest, readDeleted, readPage } from "./documents.ts";
import { MultipartUpload } from "./multipart.ts";

export interface S3ObjectsOptions {
  readonly address: S3Address;
  /** What all keys begin with in the bucket; empty, or ends with a slash. */
  readonly prefix?: string | undefined;
  readonly credentials: CredentialsSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly tryTimeoutMs?: number | undefined;
}

/** In the object's metadata: which put made it. */
const TOKEN = "x-amz-meta-keelson-put";
/** Requests that give up an upload have a time of their own, because the call's may be over. */
const ABORT_TIMEOUT_MS = 10_000;

export class S3Objects implements Objects {
  readonly place: string;
  readonly #client: S3Client;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Work that may outlive its call. */
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: S3ObjectsOptions) {
    const { address, prefix = "" } = options;
    this.#client = new S3Client(options);
    this.#prefix = prefix;
    this.#clock = options.clock;
    this.#random = options.random;
    this.place = `s3://${address.bucket}/${prefix} at ${address.endpoint}`;
  }

  put(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<void> {
    return this.#call(`put of "${key}"`, options, async (deadline, what) => {
      checkBody(key, bytes);
      await this.#putStored(key, seal(bytes), deadline, what);
    });
  }

  putIfAbsent(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<PutIfAbsentOutcome> {
    return this.#call(`put-if-absent of "${key}"`, options, async (deadline, what) => {
      checkBody(key, bytes);
      const token = this.#token();
      const headers = { "if-none-match": "*", [TOKEN]: token };
      const request = { method: "PUT", key: this.#prefix + key, headers, body: seal(bytes) } as const;
      const answer = await this.#client.request(request, terms(what, [200, 412], "fence"), deadline);
      if (answer.status === 200) return { kind: "created" };
      if (!answer.unseen) return { kind: "exists" };
      // It is taken; perhaps by ourselves, by an earlier try whose answer was lost.
      const found = await this.#head(key, deadline, what);
      if (found?.headers[TOKEN] === token) return { kind: "created" };
      return { kind: "exists" };
    });
  }

  putStream(key: string, source: AsyncIterable<Uint8Array>, options: ObjectCallOptions): Promise<number> {
    return this.#call(`put of "${key}"`, options, async (deadline, what) => {
      checkKey(key);
      const token = this.#token();
      const upload = new MultipartUpload(
        this.#client,
        this.#prefix + key,
        { [TOKEN]: token },
        what,
        deadline,
      );
      try {
        const whole = await upload.write(source);
        if (whole === undefined) await this.#seen(key, token, deadline, what, () => upload.complete());
        else await this.#putStored(key, whole, deadline, what);
        return upload.sizeBytes;
      } catch (error) {
        this.#later((late) => upload.abort(late));
        throw error;
      }
    });
  }

  get(key: string, options: GetOptions): Promise<StoredObject | undefined> {
    return this.#call(`get of "${key}"`, options, async (deadline, what) => {
      checkKey(key);
      const bodyBytesMax = storedBytes(options.bytesMax ?? OBJECT_LIMITS.bodyBytesMax);
      const answer = await this.#read({ method: "GET", key, bodyBytesMax }, deadline, what, [200, 404]);
      if (answer.status === 404) return undefined;
      const info = infoOf(key, answer);
      const large = tooLarge(key, info.sizeBytes, options);
      if (large !== undefined) throw large;
      return { ...info, bytes: unseal(answer.body, key) };
    });
  }

  getRange(
    key: string,
    offset: number,
    lengthBytes: number,
    options: RangeOptions,
  ): Promise<StoredObject | undefined> {
    return this.#call(`range of "${key}"`, options, async (deadline, what) => {
      checkRange(key, offset, lengthBytes);
      const range = storedRange(offset, lengthBytes);
      const headers = { range: `bytes=${range.from}-${range.to - 1}` };
      const answer =
        lengthBytes === 0
          ? undefined
          : await this.#read({ method: "GET", key, headers }, deadline, what, [200, 206, 404, 416]);
      if (answer?.status === 404) return undefined;
      const behind = answer === undefined || answer.status === 416;
      const told = behind ? await this.#head(key, deadline, what) : answer;
      if (told === undefined) return undefined;
      const info = infoOf(key, told);
      if (options.version !== undefined && options.version !== info.version)
        throw new ObjectError("OBJECT_CHANGED", `"${key}" was replaced since it was looked at`);
      if (behind) return { ...info, bytes: Buffer.alloc(0) };
      const stored = answer.status === 200 ? answer.body.subarray(range.from, range.to) : answer.body;
      return { ...info, bytes: unsealRange(stored, range, offset, lengthBytes, info.sizeBytes, key) };
    });
  }

  head(key: string, options: ObjectCallOptions): Promise<ObjectInfo | undefined> {
    return this.#call(`head of "${key}"`, options, async (deadline, what) => {
      checkKey(key);
      const answer = await this.#head(key, deadline, what);
      return answer === undefined ? undefined : infoOf(key, answer);
    });
  }

  list(prefix: string, options: ListOptions): Promise<ObjectPage> {
    return this.#call(`listing of "${prefix}"`, options, async (deadline, what) => {
      const limit = checkList(prefix, options);
      const query: Record<string, string> = {
        "list-type": "2",
        "encoding-type": "url",
        "max-keys": `${limit}`,
        prefix: this.#prefix + prefix,
      };
      if (options.after !== undefined) query["start-after"] = this.#prefix + options.after;
      const answer = await this.#client.request(
        { method: "GET", key: "", query },
        terms(what, [200], "read"),
        deadline,
      );
      return readPage(answer.body, this.#prefix, what);
    });
  }

  delete(keys: readonly string[], options: ObjectCallOptions): Promise<void> {
    return this.#call(`delete of ${keys.length} objects`, options, async (deadline, what) => {
      checkKeys(keys);
      if (keys.length === 0) return;
      const body = deleteRequest(keys.map((key) => this.#prefix + key));
      const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
      const request = { method: "POST", key: "", query: { delete: "" }, headers, body } as const;
      const answer = await this.#client.request(request, terms(what, [200], "write"), deadline);
      readDeleted(answer.body, what, this.#client.address);
    });
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    await this.#client.close();
  }

  async #putStored(key: string, body: Buffer, deadline: Deadline, what: string): Promise<void> {
    const token = this.#token();
    const request = { method: "PUT", key: this.#prefix + key, headers: { [TOKEN]: token }, body } as const;
    await this.#seen(key, token, deadline, what, () =>
      this.#client.request(request, terms(what, [200], "write"), deadline),
    );
  }

  /** Runs a write that is not sent twice. When its end was not seen, the object itself may tell that it was applied. */
  async #seen(
    key: string,
    token: string,
    deadline: Deadline,
    what: string,
    write: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof UnseenEnd)) throw error;
      const found = await this.#head(key, deadline, what).catch(() => undefined);
      if (found?.headers[TOKEN] !== token) throw error;
    }
  }

  async #head(key: string, deadline: Deadline, what: string): Promise<S3Answer | undefined> {
    const answer = await this.#read({ method: "HEAD", key }, deadline, what, [200, 404]);
    return answer.status === 404 ? undefined : answer;
  }

  #read(
    request: S3Request,
    deadline: Deadline,
    what: string,
    expected: readonly number[],
  ): Promise<S3Answer> {
    return this.#client.request(
      { ...request, key: this.#prefix + request.key },
      terms(what, expected, "read"),
      deadline,
    );
  }

  /** Runs a call within its deadline. */
  async #call<T>(
    what: string,
    options: ObjectCallOptions,
    work: (deadline: Deadline, what: string) => Promise<T>,
  ): Promise<T> {
    const deadline = new Deadline(this.#clock, what, options);
    try {
      deadline.check();
      return await work(deadline, what);
    } catch (error) {
      if (!(error instanceof UnseenEnd)) throw error;
      throw new ObjectError(
        "OBJECT_UNKNOWN",
        `${error.message}: it may have been applied, or may yet be; read before acting`,
        { cause: error.cause },
      );
    } finally {
      deadline.close();
    }
  }

  /** Does work that the caller does not wait for; `close` does. */
  #later(work: (deadline: Deadline) => Promise<void>): void {
    const deadline = new Deadline(this.#clock, "giving up an upload", { timeoutMs: ABORT_TIMEOUT_MS });
    const running = work(deadline)
      .catch(() => {
        // The server keeps the parts then; docs/design/objects.md says which bucket rule removes them.
      })
      .finally(() => {
        deadline.close();
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  #token(): string {
    const word = (): string =>
      Math.floor(this.#random() * 2 ** 32)
        .toString(16)
        .padStart(8, "0");
    return word() + word() + word() + word();
  }
}

function terms(what: string, expected: readonly number[], kind: RequestKind): RequestTerms {
  return { what, expected, kind };
}

/** Size and version of the whole object, also from an answer that carries a part of it. */
function infoOf(key: string, { headers, body }: S3Answer): ObjectInfo {
  const total =
    /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] ?? headers["content-length"] ?? body.length;
  return {
    key,
    sizeBytes: requireSize(Number(total), key),
    version: (headers["etag"] ?? "").replaceAll('"', ""),
  };
}
