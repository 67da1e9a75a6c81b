import { compareEpochs, formatEpoch, type Epoch } from "../identity/epoch.ts";
import { TransportError, type Hint, type NodeReply } from "./transport.ts";

/** What a router tells its caller, besides the codes of services, which pass through unchanged. */
export type RouterErrorCode =
  /** Nobody held the shard (or, for a write, was its primary) until the deadline. */
  | "NO_HOLDER"
  /** No answer in time. A write may have been carried out. */
  | "TIMEOUT"
  /** The connection broke before the answer. A write may have been carried out. */
  | "CUT"
  /** A former holder answered. A write may have been carried out. */
  | "STALE"
  | "OVERLOADED"
  | "WARMING"
  | "QUARANTINED"
  /** Too many requests needed a retry; this one got none. */
  | "BUDGET"
  | "UNREACHABLE";

/** Why a try gave no answer; what the caller is told, if no later try does better. */
export interface TryFailure {
  readonly code: RouterErrorCode | (string & {});
  /** One sentence without its full stop: what happened, then what to do. */
  readonly text: string;
  /** A node had work with it: trying again adds to its load, and is paid from the retry budget. */
  readonly reached: boolean;
  /** It may have been carried out. */
  readonly unknown: boolean;
}

export type Verdict =
  | { readonly kind: "follow"; readonly hint: Hint }
  | { readonly kind: "retry"; readonly failure: TryFailure }
  | { readonly kind: "fail"; readonly failure: TryFailure };

/** What bears on a verdict besides the reply. */
export interface Try {
  readonly node: string;
  readonly address: string;
  /** Carrying it out twice does no harm: a read, or a write that says so. */
  readonly repeatable: boolean;
  /** Hints may still be followed at once. */
  readonly mayFollow: boolean;
  /** The greatest epoch seen when it was sent. */
  readonly floor: Epoch | undefined;
}

/** The code with which a node says that a tenure ended under a write. */
const OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN";

/** Decides what becomes of a request after a reply that is no fresh answer, or after none. An unknown outcome of a write is never retried unless that is harmless. */
export function judge(outcome: NodeReply | TransportError, tried: Try): Verdict {
  const { node } = tried;
  if (outcome instanceof TransportError) return judgeSilence(outcome, tried);
  switch (outcome.kind) {
    case "ok": {
      const known = tried.floor ? formatEpoch(tried.floor) : "none";
      const text = `node ${node} answered with epoch ${formatEpoch(outcome.epoch)}, and ${known} is known: it held the shard formerly${advice(tried)}`;
      return unlessUnknown(tried, { code: "STALE", text, reached: true, unknown: !tried.repeatable });
    }
    case "not-owner": {
      const { hint } = outcome;
      if (hint && tried.mayFollow && hint.address !== tried.address) return { kind: "follow", hint };
      const text = hint
        ? `node ${node} does not hold it and names ${hint.node}, as others did before: it is on the move, try again`
        : `node ${node} does not hold it and knows nobody who does: try again`;
      return { kind: "retry", failure: { code: "NO_HOLDER", text, reached: true, unknown: false } };
    }
    case "warming": {
      const text = `node ${node} is still loading it (${Math.floor(outcome.progress * 100)} %): try again later`;
      return { kind: "retry", failure: { code: "WARMING", text, reached: true, unknown: false } };
    }
    case "overloaded": {
      const text = `node ${node} is overloaded (${outcome.reason}): send less, and try again later`;
      return { kind: "retry", failure: { code: "OVERLOADED", text, reached: true, unknown: false } };
    }
    case "quarantined": {
      const text = `it is quarantined (${outcome.reason}): mend the cause, then let an operator retry it`;
      return { kind: "fail", failure: { code: "QUARANTINED", text, reached: true, unknown: false } };
    }
    case "error": {
      const unknown = outcome.code === OUTCOME_UNKNOWN;
      const failure = { code: outcome.code, text: outcome.message, reached: true, unknown };
      return { kind: unknown && tried.repeatable ? "retry" : "fail", failure };
    }
  }
}

/** Whether an answer may be taken: it is not from a holder that was known, when the request left, to be a former one. */
export function isFresh(epoch: Epoch, floor: Epoch | undefined): boolean {
  return floor === undefined || compareEpochs(epoch, floor) >= 0;
}

function judgeSilence({ code, message }: TransportError, tried: Try): Verdict {
  const { node } = tried;
  switch (code) {
    case "UNREACHABLE": {
      const text = `node ${node} cannot be reached (${message}): its shards move when its session ends, try again then`;
      return { kind: "retry", failure: { code, text, reached: false, unknown: false } };
    }
    case "TIMEOUT":
    case "CUT": {
      const text = `no answer from node ${node} (${message})${advice(tried)}`;
      return unlessUnknown(tried, { code, text, reached: true, unknown: !tried.repeatable });
    }
  }
}

function unlessUnknown(tried: Try, failure: TryFailure): Verdict {
  return { kind: tried.repeatable ? "retry" : "fail", failure };
}

function advice({ repeatable }: Try): string {
  return repeatable ? ": try again" : ": the write may have been carried out, so read before you write again";
}
