/** Something that the gateway serves at a path: an operation of a plug-in, or one of its own. */
import type { Api, Scope } from "@keelson/runtime";
import type { Problem } from "../problem.ts";
import type { Exchange } from "./exchange.ts";

export interface Endpoint {
  /** In metrics and traces: which service, and which of its operations. */
  readonly service: string;
  readonly name: string;
  /** What a token must have; undefined for what needs none. */
  readonly scope: Scope | undefined;
  /** Whose error codes it may answer with. */
  readonly plugin?: Api;
  readonly timeoutMs: number;
  /** An operator's action: it is audited, also when it fails. */
  readonly action?: boolean;
  /** What it writes when it refuses a request, at paths that another protocol has laid down. */
  readonly refusal?: ((message: string) => unknown) | undefined;
  /** What shows no token but one of these headers is let in: it is for `run` to see that it is rightly signed. */
  readonly signatures?: readonly string[] | undefined;
  /** Served even while the gateway is overloaded: probes. */
  readonly unshed?: boolean;
  /** Answers, or throws. Returns what went wrong after the answer had begun. */
  run(exchange: Exchange): Promise<Problem | undefined>;
}

/** Whether a path is another protocol's, not one of ours. */
export function isForeign(path: string): boolean {
  return !path.startsWith("/v1/");
}
