import type { RouterErrorCode, TryFailure } from "@keelson/kernel";

/**
 * A request that the router gives up on. The code is the router's own or, unchanged, the service's; the message says what happened and what to
 * do. `unknown` tells whether the request may have been carried out all the same.
 */
export class RouterError extends Error {
  override readonly name = "RouterError";
  readonly code: RouterErrorCode | (string & {});
  readonly service: string;
  readonly shard: string;
  /** How often it was sent; 0 when it never was. */
  readonly tries: number;
  readonly unknown: boolean;

  constructor(
    request: { readonly service: string; readonly shard: string },
    failure: Pick<TryFailure, "code" | "text" | "unknown">,
    tries: number,
    options?: { cause?: unknown },
  ) {
    super(
      `${request.service}/${request.shard}: ${failure.text}${tries > 1 ? ` (${tries} tries)` : ""}`,
      options,
    );
    this.code = failure.code;
    this.service = request.service;
    this.shard = request.shard;
    this.tries = tries;
    this.unknown = failure.unknown;
  }
}
