/**
 * One upload in parts: bytes of unknown number become an object without being in memory together. It holds at most one part that fills and a few that are on
 * their way. An object that fits into one part is not uploaded in parts at all.
 */
import type { Deadline } from "../deadline.ts";
import { ObjectError } from "../errors.ts";
import { checkStreamBytes } from "../limits.ts";
import { BLOCK_BYTES } from "../sealed/layout.ts";
import { Sealer } from "../sealed/seal.ts";
import { UnseenEnd, type RequestKind, type RequestTerms, type S3Client } from "./client.ts";
import { completeRequest, isCompleted, readUploadId } from "./documents.ts";

/** S3 takes 10,000 parts of at least 5 MiB. */
const PART_BYTES = 128 * BLOCK_BYTES;
const PARTS_UNDER_WAY_MAX = 3;

export class MultipartUpload {
  readonly #client: S3Client;
  readonly #key: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #what: string;
  readonly #deadline: Deadline;
  readonly #sealer = new Sealer(PART_BYTES);
  readonly #etags: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #id: string | undefined;
  #parts = 0;

  constructor(
    client: S3Client,
    key: string,
    headers: Readonly<Record<string, string>>,
    what: string,
    deadline: Deadline,
  ) {
    this.#client = client;
    this.#key = key;
    this.#headers = headers;
    this.#what = what;
    this.#deadline = deadline;
  }

  get sizeBytes(): number {
    return this.#sealer.sizeBytes;
  }

  /** Uploads all parts. When everything fits into one, it is given back instead, and nothing was uploaded. */
  async write(source: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
    for await (const chunk of source) {
      this.#deadline.check();
      checkStreamBytes(this.#key, this.sizeBytes + chunk.length);
      for (const part of this.#sealer.add(chunk)) await this.#upload(part);
    }
    const last = this.#sealer.end();
    if (this.#parts === 0) return last;
    await this.#upload(last);
    await Promise.all(this.#underWay);
    return undefined;
  }

  /** Makes the parts an object. Throws UnseenEnd when that may or may not have happened. */
  async complete(): Promise<void> {
    const body = completeRequest(this.#etags);
    const answer = await this.#client.request(
      { method: "POST", key: this.#key, query: { uploadId: this.#id! }, body },
      this.#terms([200], "write"),
      this.#deadline,
    );
    if (!isCompleted(answer.body, this.#what))
      throw new UnseenEnd(`${this.#what}: the parts were not put together`);
  }

  /** Removes the parts that were uploaded. Waits for those under way, which would otherwise arrive later. */
  async abort(deadline: Deadline): Promise<void> {
    await Promise.allSettled(this.#underWay);
    if (this.#id === undefined) return;
    await this.#client.request(
      { method: "DELETE", key: this.#key, query: { uploadId: this.#id } },
      this.#terms([204, 404], "read"),
      deadline,
    );
  }

  /** Returns when another part may begin. */
  async #upload(part: Buffer): Promise<void> {
    this.#id ??= await this.#create();
    this.#parts += 1;
    const upload = this.#send(part, this.#parts);
    this.#underWay.add(upload);
    upload.then(
      () => this.#underWay.delete(upload),
      // It stays, and fails whoever waits for it next.
      () => {},
    );
    if (this.#underWay.size >= PARTS_UNDER_WAY_MAX) await Promise.race(this.#underWay);
  }

  async #create(): Promise<string> {
    const answer = await this.#client.request(
      { method: "POST", key: this.#key, query: { uploads: "" }, headers: this.#headers },
      this.#terms([200], "read"),
      this.#deadline,
    );
    return readUploadId(answer.body, this.#what);
  }

  async #send(body: Buffer, number: number): Promise<void> {
    const answer = await this.#client.request(
      { method: "PUT", key: this.#key, query: { partNumber: `${number}`, uploadId: this.#id! }, body },
      this.#terms([200], "read"),
      this.#deadline,
    );
    const { etag } = answer.headers;
    if (etag === undefined)
      throw new ObjectError(
        "OBJECT_UNAVAILABLE",
        `${this.#what}: part ${number} got no ETag; check the endpoint`,
      );
    this.#etags[number - 1] = etag;
  }

  /** Parts are nothing that anybody sees, so sending one again is a read as far as that goes. */
  #terms(expected: readonly number[], kind: RequestKind): RequestTerms {
    return { what: this.#what, expected, kind };
  }
}
