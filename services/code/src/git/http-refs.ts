/**
 * The branches of a repository on a server, asked for over a connection that is kept, without starting git: one request of git's protocol, version 2, for each look. Whatever is not as expected
 * (an older protocol, a redirect, a refusal, a certificate that Node does not take) is left to git by saying nothing, so that its rules and its words count; and to git alone for a while then.
 */
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import type { BoundCredential } from "./credentials.ts";
import { GitError } from "./git-error.ts";
import { headsOf, OID, type RemoteHeads } from "./heads.ts";
import { flushPacket, packet, packetsOf } from "./packets.ts";

const answerBytesMax = 64 << 20;
/** Servers of which something is remembered. */
const knownMax = 10_000;
/** How long one is left to git after it was not understood. */
const leftMs = 600_000;
/** The same after one that could not be talked to. */
const failedMs = 60_000;
const connectionsPerHostMax = 4;

interface Known {
  /** Of its objects' names, once it said that it speaks the protocol. */
  readonly format?: string;
  /** It answers only who shows a password. */
  readonly asks: boolean;
  readonly leftUntil?: number;
  /** It answered with a page for people. */
  readonly page?: boolean;
}

interface Looking {
  readonly what: string;
  readonly credential?: BoundCredential | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

export class HttpRefs {
  readonly #known = new Map<string, Known>();
  readonly #now: () => number;
  // Sockets that nobody uses do not keep a process alive.
  readonly #agents = {
    "http:": new PlainAgent({ keepAlive: true, maxSockets: connectionsPerHostMax, maxFreeSockets: 1 }),
    "https:": new TlsAgent({ keepAlive: true, maxSockets: connectionsPerHostMax, maxFreeSockets: 1 }),
  };

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined when git should be asked. Throws GitError when the server says nothing in time, or nobody wants to know any more. */
  async read(url: string, looking: Looking): Promise<RemoteHeads | undefined> {
    const known = this.#known.get(url) ?? { asks: false };
    if ((known.leftUntil ?? -Infinity) > this.#now() || /[?#]/.test(url)) return undefined;
    // Not AbortSignal.any: what it makes stays with the signals that it is made of, and a repository's is there for weeks.
    const ending = new AbortController();
    const end = (): void => ending.abort();
    const timer = setTimeout(end, looking.timeoutMs);
    if (looking.signal?.aborted === true) end();
    looking.signal?.addEventListener("abort", end, { once: true });
    try {
      const found = await this.#ask(url.replace(/\/+$/, ""), known, looking.credential, ending.signal);
      if (found && found !== "page") {
        this.#remember(url, found.known);
        return found.heads;
      }
      this.#remember(url, { asks: known.asks, leftUntil: this.#now() + leftMs, page: found === "page" });
      return undefined;
    } catch (error) {
      const { what, signal, timeoutMs } = looking;
      if (signal?.aborted === true) throw new GitError("CANCELLED", `${what}: no longer wanted`);
      if (ending.signal.aborted)
        throw new GitError(
          "UNREACHABLE",
          `${what}: the server took longer than ${timeoutMs} ms; it is tried again`,
        );
      if (!(error instanceof Error && "code" in error)) throw error;
      // Git says what is wrong.
      this.#remember(url, { asks: known.asks, leftUntil: this.#now() + failedMs });
      return undefined;
    } finally {
      clearTimeout(timer);
      looking.signal?.removeEventListener("abort", end);
    }
  }

  /** Git takes a page in one line for a repository in which there is nothing yet. */
  isPage(url: string): boolean {
    return this.#known.get(url)?.page === true;
  }

  /** Ends the connections that are kept. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #ask(
    url: string,
    known: Known,
    credential: BoundCredential | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly heads: RemoteHeads; readonly known: Known } | "page" | undefined> {
    let { format, asks } = known;
    if (format === undefined) {
      const listing = `${url}/info/refs?service=git-upload-pack`;
      let answer = await this.#send("GET", listing, undefined, asks ? credential : undefined, signal);
      if (answer.status === 401 && credential && !asks) {
        asks = true;
        answer = await this.#send("GET", listing, undefined, credential, signal);
      }
      if (answer.status === 200 && answer.type.startsWith("text/html")) return "page";
      format = formatOf(answer);
      if (format === undefined) return undefined;
    }
    const question = Buffer.concat([
      packet(`command=ls-refs\n`),
      packet(`object-format=${format}\n`),
      Buffer.from("0001"),
      packet("symrefs\n"),
      packet("ref-prefix HEAD\n"),
      packet("ref-prefix refs/heads/\n"),
      flushPacket,
    ]);
    const there = `${url}/git-upload-pack`;
    const answer = await this.#send("POST", there, question, asks ? credential : undefined, signal);
    if (answer.status !== 200 || answer.type !== "application/x-git-upload-pack-result") return undefined;
    const lines = packetsOf(answer.body);
    const heads = lines && listed(lines);
    return heads && { heads, known: { format, asks } };
  }

  #send(
    method: "GET" | "POST",
    url: string,
    body: Buffer | undefined,
    credential: BoundCredential | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { protocol, origin } = new URL(url);
    const shown = credential && credential.origin === origin ? credential : undefined;
    const headers = {
      "user-agent": "git/2 keelson",
      "git-protocol": "version=2",
      ...(body
        ? {
            "content-type": "application/x-git-upload-pack-request",
            accept: "application/x-git-upload-pack-result",
            "content-length": String(body.length),
          }
        : {}),
      ...(shown
        ? {
            authorization: `Basic ${Buffer.from(`${shown.username}:${shown.password}`).toString("base64")}`,
          }
        : {}),
    };
    const isTls = protocol === "https:";
    const agent = this.#agents[isTls ? "https:" : "http:"];
    return new Promise((resolve, reject) => {
      const asked = (isTls ? tlsRequest : plainRequest)(url, { method, agent, headers, signal });
      asked.on("error", reject);
      asked.on("response", (response) => {
        collect(response).then(resolve, (error: unknown) => {
          asked.destroy();
          reject(error instanceof Error ? error : new Error(String(error)));
        });
      });
      asked.end(body);
    });
  }

  #remember(url: string, known: Known): void {
    this.#known.delete(url);
    this.#known.set(url, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > knownMax && oldest !== undefined) this.#known.delete(oldest);
  }
}

async function collect(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax)
      throw Object.assign(new Error(`more than ${answerBytesMax} bytes`), { code: "TOO_LARGE" });
    chunks.push(chunk);
  }
  const { statusCode: status = 0, headers } = response;
  return { status, type: headers["content-type"] ?? "", body: Buffer.concat(chunks) };
}

/** Of object names, when it speaks version 2 and can list refs. */
function formatOf({ status, type, body }: Answer): string | undefined {
  if (status !== 200 || type !== "application/x-git-upload-pack-advertisement") return undefined;
  const lines = packetsOf(body);
  if (!lines?.includes("version 2") || !lines.some((line) => /^ls-refs(?:=|$)/.test(line))) return undefined;
  const named = lines.find((line) => line.startsWith("object-format="));
  const format = named?.slice("object-format=".length) ?? "sha1";
  return format === "sha1" || format === "sha256" ? format : undefined;
}

/** `<id> <name> symref-target:<name>`. Undefined when a line is something else. */
function listed(lines: readonly string[]): RemoteHeads | undefined {
  const branches = new Map<string, string>();
  let head: string | undefined;
  let target: string | undefined;
  for (const line of lines) {
    const [oid = "", name = "", ...attributes] = line.split(" ");
    if (!OID.test(oid)) return undefined;
    if (name.startsWith("refs/heads/")) branches.set(name.slice("refs/heads/".length), oid);
    if (name !== "HEAD") continue;
    head = oid;
    const symref = attributes.find((each) => each.startsWith("symref-target:refs/heads/"));
    target = symref?.slice("symref-target:refs/heads/".length);
  }
  return headsOf(target, head, branches);
}
