/**
 * What a node says of itself when it is asked over the wire: how busy its process is, what it holds in which phase, and what it decided about a replica.
 * None of it is in the store, because all of it changes with every request.
 */
import type { Decision, NodeReply, ReplicaKey } from "@keelson/kernel";
import type { KeelsonNode } from "../node/node.ts";

export const REPORT_METHOD = "report";
export const DECISIONS_METHOD = "decisions";

export interface NodeReport {
  readonly node: string;
  readonly pid: number;
  readonly uptimeMs: number;
  /** CPU time of the process since it started; nodes of one process share it. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly inflight: number;
  /** Requests since the node started, and those of them that did not end with `ok`. */
  readonly requests: number;
  readonly refused: number;
  /** Replicas by phase. */
  readonly phases: Readonly<Record<string, number>>;
  /** Wall clock of the node, to tell clocks that are wrong. */
  readonly at: number;
}

/** What only the process knows. */
export interface ProcessFigures {
  readonly pid: number;
  readonly uptimeMs: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** Counts a node's requests on their way through, and answers for it. */
export class NodeReporter {
  readonly #node: KeelsonNode;
  readonly #name: string;
  readonly #figures: () => ProcessFigures;
  readonly #wall: () => number;
  readonly #replied: (reply: NodeReply["kind"]) => void;
  #requests = 0;
  #refused = 0;

  constructor(options: {
    readonly node: KeelsonNode;
    readonly name: string;
    readonly figures: () => ProcessFigures;
    readonly wall: () => number;
    /** Told how each request was replied to. */
    readonly replied?: (reply: NodeReply["kind"]) => void;
  }) {
    this.#node = options.node;
    this.#name = options.name;
    this.#figures = options.figures;
    this.#wall = options.wall;
    this.#replied = options.replied ?? (() => undefined);
  }

  readonly handle: KeelsonNode["handle"] = async (request, signal) => {
    this.#requests++;
    const reply = await this.#node.handle(request, signal);
    this.#replied(reply.kind);
    if (reply.kind !== "ok") this.#refused++;
    return reply;
  };

  report(): NodeReport {
    const phases: Record<string, number> = {};
    for (const { phase } of this.#node.held()) phases[phase] = (phases[phase] ?? 0) + 1;
    return {
      node: this.#name,
      ...this.#figures(),
      inflight: this.#node.inflight,
      requests: this.#requests,
      refused: this.#refused,
      phases,
      at: this.#wall(),
    };
  }

  /** Anything but the key of a replica has no decisions. */
  decisions(replica: unknown): readonly Decision[] {
    return typeof replica === "string" ? this.#node.decisions.of(replica satisfies ReplicaKey) : [];
  }
}
