/**
 * Asks a real Gubernator, over its own API, when one is configured. Checks of one turn go out in one call, at most a thousand. A check that got no answer counts
 * as refused and is tried again a little later: a limit that cannot be asked about must not be exceeded.
 */
import { Client, credentials } from "@grpc/grpc-js";
import { Batcher } from "../client/batcher.ts";
import type { RateLimit } from "../engine/index.ts";
import { REQUESTS_MAX, V1_SERVICE, decodeAnswers, encodeRateLimits } from "./messages.ts";
import { RATE_STATUS, type RateLimitAnswer, type RateLimitRequest } from "./rate-limit.ts";

export interface RemoteVerdict {
  readonly allowed: boolean;
  /** The place of the limit that refused, among those asked about: the one that takes longest. */
  readonly refusedBy?: number;
  /** When it is worth asking again. */
  readonly retryAtMs: number | undefined;
}

const TIMEOUT_MS = 2_000;
const RETRY_MS = 1_000;

export class RemoteLimiter {
  readonly #client: Client;
  readonly #wallMs: () => number;
  readonly #onProblem: (problem: Error) => void;
  readonly #batcher: Batcher<RateLimitRequest, RateLimitAnswer>;

  /** `address` is `host:port`. */
  constructor(address: string, wallMs: () => number, onProblem: (problem: Error) => void) {
    this.#client = new Client(address, credentials.createInsecure());
    this.#wallMs = wallMs;
    this.#onProblem = onProblem;
    this.#batcher = new Batcher((requests) => this.#ask(requests), {
      itemsMax: REQUESTS_MAX,
      inflightMax: 8,
    });
  }

  /** All of a job's limits; one that refuses refuses the job. */
  async check(limits: readonly RateLimit[]): Promise<RemoteVerdict> {
    try {
      const answers = await Promise.all(limits.map((limit) => this.#batcher.add(requestOf(limit), 100)));
      let refusedBy: number | undefined;
      let broken: string | undefined;
      for (const [index, { status, error, resetAtMs }] of answers.entries()) {
        if (error === "" && status !== RATE_STATUS.overLimit) continue;
        if (error !== "") broken = error;
        if (refusedBy === undefined || resetAtMs > answers[refusedBy]!.resetAtMs) refusedBy = index;
      }
      if (refusedBy === undefined) return { allowed: true, retryAtMs: undefined };
      if (broken !== undefined) this.#onProblem(new Error(`Gubernator: ${broken}`));
      const { resetAtMs } = answers[refusedBy]!;
      return { allowed: false, refusedBy, retryAtMs: resetAtMs > 0 ? resetAtMs : undefined };
    } catch (error) {
      this.#onProblem(error as Error);
      return { allowed: false, retryAtMs: this.#wallMs() + RETRY_MS };
    }
  }

  close(): void {
    this.#client.close();
  }

  #ask(requests: readonly RateLimitRequest[]): Promise<readonly RateLimitAnswer[]> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        `/${V1_SERVICE}/GetRateLimits`,
        (bytes: Buffer) => bytes,
        decodeAnswers,
        encodeRateLimits(requests),
        { deadline: Date.now() + TIMEOUT_MS },
        (error, answers) => {
          if (error !== null) reject(error);
          else if (answers?.length === requests.length) resolve(answers);
          else
            reject(
              new Error(`Gubernator gave ${answers?.length ?? 0} answers to ${requests.length} requests`),
            );
        },
      );
    });
  }
}

function requestOf(limit: RateLimit): RateLimitRequest {
  const { name, uniqueKey, hits, durationMs, algorithm, behavior, burst } = limit;
  return {
    name,
    uniqueKey,
    hits,
    limit: limit.limit,
    duration: durationMs,
    algorithm,
    behaviour: behavior,
    burst,
  };
}
