/** Reads blobs by object id from one `cat-file --batch`, in order, as fast as they are taken. */
import type { Readable } from "node:stream";
import { GitError, classify } from "./git-error.ts";
import { startGit } from "./git-process.ts";

interface Blob {
  readonly oid: string;
  readonly content: Buffer;
}

/** Yields one for each id, in the order given. An id that is missing is an error: the clone is damaged. */
export async function* readBlobs(
  folder: string,
  oids: readonly string[],
  what: string,
  signal?: AbortSignal,
): AsyncGenerator<Blob> {
  if (oids.length === 0) return;
  const child = startGit(["cat-file", "--batch", "--buffer"], { folder, what, signal });
  let errors = "";
  let ended = false;
  child.stderr.on("data", (chunk: Buffer) => {
    if (errors.length < 4_096) errors += chunk.toString("utf8");
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.stdin.end(`${oids.join("\n")}\n`);
  const reader = new ByteReader(child.stdout);
  try {
    for (const oid of oids) {
      const header = await reader.line();
      if (signal?.aborted) throw new GitError("CANCELLED", `${what}: no longer wanted`);
      if (header === undefined) throw classify(what, errors === "" ? "cat-file ended early" : errors);
      const [found, type, size] = header.split(" ");
      if (found !== oid || type !== "blob")
        throw new GitError(
          "GIT_FAILED",
          `${what}: object ${oid} is ${type ?? "missing"}: the clone is damaged`,
        );
      const content = await reader.bytes(Number(size));
      await reader.bytes(1);
      yield { oid, content };
    }
    ended = true;
  } finally {
    if (!ended) child.kill("SIGKILL");
  }
}

/** Takes lines and counted bytes from a stream, without copying more than once. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf(10);
      if (end >= 0) {
        const line = this.#rest.toString("latin1", 0, end);
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      const next = await this.#next();
      if (!next) return undefined;
      this.#rest = this.#rest.length === 0 ? next : Buffer.concat([this.#rest, next]);
    }
  }

  async bytes(count: number): Promise<Buffer> {
    if (this.#rest.length >= count) {
      const taken = this.#rest.subarray(0, count);
      this.#rest = this.#rest.subarray(count);
      return taken;
    }
    const whole = Buffer.allocUnsafe(count);
    let at = this.#rest.copy(whole);
    this.#rest = Buffer.alloc(0);
    while (at < count) {
      const next = await this.#next();
      if (!next)
        throw new GitError("GIT_FAILED", "git ended in the middle of an object: the clone is damaged");
      const used = next.copy(whole, at);
      at += used;
      this.#rest = next.subarray(used);
    }
    return whole;
  }

  async #next(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next();
    return next.done === true ? undefined : next.value;
  }
}
