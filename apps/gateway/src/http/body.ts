/** Reads a request's body, within its size, its time and what all bodies together may take. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "@keelson/runtime";
import { Problem, shed } from "../problem.ts";

export interface BodyLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  /** It is JSON, whatever it is said to be: protocols of others do not ask. */
  readonly anyType?: boolean;
  /** It may be a form, whose field of this name has the JSON. */
  readonly formField?: string | undefined;
  /** Is given what came before any of it is understood, and refuses it by rejecting. */
  readonly prove?: ((bytes: Uint8Array) => Promise<void>) | undefined;
}

export interface Body {
  /** As they came. */
  readonly bytes: Uint8Array;
  /** What they say. */
  readonly value: unknown;
}

/** Of a body that is too large, so much is read and forgotten before that is said: who is still sending when the connection ends does not hear the answer. */
const DISCARD_BYTES_MAX = 16 * 1024 * 1024;
const DISCARD_MS = 5_000;

/** The bytes of bodies that are in memory now, of all requests. */
export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax)
      throw shed("memory", `${this.#bytes} bytes of requests are in memory`);
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Whether the request says that it has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The body, parsed; undefined when there is none. Throws Problem. */
export async function readBody(
  request: IncomingMessage,
  clock: Clock,
  budget: BodyBudget,
  limits: BodyLimits,
): Promise<Body | undefined> {
  if (!hasBody(request)) return undefined;
  const { formField } = limits;
  const type = request.headers["content-type"];
  const isJson = type !== undefined && /^application\/(?:[a-z.+-]*\+)?json *(?:;.*)?$/i.test(type);
  const isForm =
    formField !== undefined && /^application\/x-www-form-urlencoded *(?:;.*)?$/i.test(type ?? "");
  if (!isJson && !isForm && limits.anyType !== true)
    throw new Problem("UNSUPPORTED_TYPE", "the body must be JSON: send content-type: application/json");
  if (request.headers["content-encoding"] !== undefined)
    throw new Problem(
      "UNSUPPORTED_TYPE",
      "the body must not be compressed: send it without content-encoding",
    );
  const bytes = await readBytes(request, clock, budget, limits);
  await limits.prove?.(bytes);
  const text = bytes.toString("utf8");
  try {
    const json = isForm ? (new URLSearchParams(text).get(formField) ?? "") : text;
    return { bytes, value: JSON.parse(json) as unknown };
  } catch (error) {
    // The parser's own words quote the body, which may hold what should not be in a log.
    const what = isForm ? `the form has no JSON in its field ${formField}` : "the body is not JSON";
    throw new Problem("BAD_JSON", what, {
      cause: error instanceof SyntaxError ? undefined : error,
    });
  }
}

async function readBytes(
  request: IncomingMessage,
  clock: Clock,
  budget: BodyBudget,
  { bytesMax, timeoutMs }: BodyLimits,
): Promise<Buffer> {
  const tooLarge = (): Problem =>
    new Problem("TOO_LARGE", `the body may have ${bytesMax} bytes: send less`, { details: { bytesMax } });
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    await discard(request, clock);
    throw tooLarge();
  }
  let bytes = 0;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = [];
      const timer = clock.after(timeoutMs, () =>
        end(() => reject(new Problem("SLOW_REQUEST", `the body did not arrive within ${timeoutMs} ms`))),
      );
      const end = (then: () => void): void => {
        timer.cancel();
        request.off("data", data).off("end", ended).off("close", closed).off("error", closed);
        then();
      };
      const data = (chunk: Buffer): void => {
        try {
          if (bytes + chunk.length > bytesMax) throw tooLarge();
          budget.take(chunk.length);
        } catch (error) {
          request.pause();
          end(() => reject(error instanceof Error ? error : new Error(String(error))));
          return;
        }
        bytes += chunk.length;
        chunks.push(chunk);
      };
      const ended = (): void => end(() => resolve(wholeOf(chunks)));
      const closed = (): void =>
        end(() => reject(new Problem("SLOW_REQUEST", "the connection ended before the body did")));
      request.on("data", data).on("end", ended).on("close", closed).on("error", closed);
    });
  } catch (error) {
    if (error instanceof Problem && error.code === "TOO_LARGE") await discard(request, clock);
    throw error;
  } finally {
    budget.give(bytes);
  }
}

/** Until its end, but not for ever. */
async function discard(request: IncomingMessage, clock: Clock): Promise<void> {
  if (request.destroyed || Number(request.headers["content-length"] ?? 0) > DISCARD_BYTES_MAX) return;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const data = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > DISCARD_BYTES_MAX) done();
    };
    const done = (): void => {
      timer.cancel();
      request.pause();
      request.off("data", data).off("end", done).off("close", done).off("error", done);
      resolve();
    };
    const timer = clock.after(DISCARD_MS, done);
    request.on("data", data).on("end", done).on("close", done).on("error", done);
    request.resume();
  });
}

function wholeOf(chunks: readonly Buffer[]): Buffer {
  const only = chunks[0];
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}
