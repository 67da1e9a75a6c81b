/** One request and its answer: what an endpoint sees of HTTP. It knows nothing of routes, tokens or the fleet. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpAnswer, JsonText, type Principal } from "@keelson/runtime";
import type { Problem } from "../problem.ts";
import type { Params } from "./path-table.ts";

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly params: Params;
  /** After the question mark; empty when there is none. */
  readonly search: string;
  readonly principal: Principal;
  /** Let in because it says that it is signed, which nobody has checked. */
  readonly unproven: boolean;
  /** On the clock: when the caller's time is up. */
  readonly deadline: number;
  readonly trace: string | undefined;
  /** Set by whoever knows more of the answer than its body. */
  readonly headers: Record<string, string> = {};
  #controller: AbortController | undefined;
  #gone = false;
  #refused: Problem | undefined;
  #settled = false;
  #onRefused: ((problem: Problem) => void) | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    about: {
      readonly params: Params;
      readonly search: string;
      readonly principal: Principal;
      readonly unproven: boolean;
      readonly deadline: number;
      readonly trace: string | undefined;
    },
  ) {
    this.request = request;
    this.response = response;
    this.params = about.params;
    this.search = about.search;
    this.principal = about.principal;
    this.unproven = about.unproven;
    this.deadline = about.deadline;
    this.trace = about.trace;
    response.once("close", () => {
      if (response.writableFinished) return;
      this.#gone = true;
      this.#controller?.abort();
    });
  }

  /** Aborted when the caller leaves, or by `abort`. Made only when someone asks for it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#gone) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#gone = true;
    this.#controller?.abort();
  }

  /** It may no longer be answered, though it was let in: its token was revoked. What works on it is told by `signal`. */
  refuse(problem: Problem): void {
    if (this.#refused || this.#settled || this.response.writableEnded) return;
    this.#refused = problem;
    this.#onRefused?.(problem);
    this.abort();
  }

  /** From here on it is carried out and answered, whatever becomes of its token: who revokes their own is told that it is done. */
  settle(): void {
    this.#settled = true;
  }

  /** One listener: whoever is about to wait for long. */
  onRefused(listener: (problem: Problem) => void): void {
    this.#onRefused = listener;
    if (this.#refused) listener(this.#refused);
  }

  /** The caller has left: nothing that is sent arrives. */
  get gone(): boolean {
    return this.#gone || this.response.destroyed;
  }

  /** Throws what it was refused with, if it was. */
  send(answer: unknown): void {
    if (this.#refused) throw this.#refused;
    const { status, headers, body } = answer instanceof HttpAnswer ? answer : plain(answer);
    const { pieces, bytes } = body instanceof JsonText ? body : whole(body);
    this.response.writeHead(status, {
      "content-type": "application/json",
      ...ANSWER_HEADERS,
      "content-length": bytes,
      ...this.headers,
      ...headers,
    });
    const last = pieces.length - 1;
    for (let i = 0; i < last; i++) this.response.write(pieces[i]);
    this.response.end(pieces[last]);
  }
}

function whole(body: unknown): { readonly pieces: readonly (string | Uint8Array)[]; readonly bytes: number } {
  const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body ?? null);
  return { pieces: [text], bytes: typeof text === "string" ? Buffer.byteLength(text) : text.byteLength };
}

const NO_HEADERS = {};

/** What is answered is for who asked, and is what it says it is; an answer that may be kept or guessed about says so itself. */
export const ANSWER_HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

function plain(body: unknown): Pick<HttpAnswer, "status" | "headers" | "body"> {
  return { status: 200, headers: NO_HEADERS, body: typeof body === "string" ? JSON.stringify(body) : body };
}
