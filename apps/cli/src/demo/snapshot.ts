/** What the demo looks like at one moment, taken from the running fleet: data only, so that drawing it can be tested without one. */
import type { Stage, NodeState } from "./stage.ts";
import type { Traffic } from "./traffic.ts";
import type { Tone } from "./script.ts";

/** `named` is what a dead node leaves behind: the store still names it as the holder, and nobody serves the shard. */
export type Cell = "none" | "opening" | "live" | "draining" | "named";

export interface NodeRow {
  readonly name: string;
  readonly state: NodeState;
  /** One per shard. */
  readonly cells: readonly Cell[];
  readonly perSecond: number;
}

export interface DemoEvent {
  readonly atMs: number;
  readonly text: string;
  readonly tone: Tone;
}

export interface Snapshot {
  readonly elapsedMs: number;
  readonly act: string;
  readonly rows: readonly NodeRow[];
  /** Per shard: nobody serves it. */
  readonly unserved: readonly boolean[];
  readonly ok: number;
  readonly failed: number;
  readonly waiting: number;
  readonly perSecond: number;
  /** The rate at which requests are sent. */
  readonly perSecondWanted: number;
  /** Oldest first: answered and failed in each quarter of a second. */
  readonly history: readonly { readonly ok: number; readonly failed: number }[];
  readonly events: readonly DemoEvent[];
}

export function takeSnapshot(
  stage: Stage,
  traffic: Traffic,
  about: { readonly elapsedMs: number; readonly act: string; readonly events: readonly DemoEvent[] },
): Snapshot {
  const rows = [...stage.states].map(([name, state]) => ({
    name,
    state,
    cells: cellsOf(stage, name),
    perSecond: state === "killed" || state === "left" ? 0 : traffic.rate(name),
  }));
  return {
    ...about,
    rows,
    unserved: stage.shards.map((shard) => stage.holders(shard).length === 0),
    ok: traffic.ok,
    failed: traffic.failed,
    waiting: traffic.waiting,
    perSecond: traffic.rate(),
    perSecondWanted: traffic.perSecond,
    history: traffic.buckets.slice(0, -1).map(({ ok, failed }) => {
      let answered = 0;
      for (const count of ok.values()) answered += count;
      return { ok: answered, failed };
    }),
  };
}

function cellsOf(stage: Stage, name: string): Cell[] {
  const node = stage.node(name);
  if (!node) return stage.shards.map((shard) => (stage.named(shard) === name ? "named" : "none"));
  const phases = new Map<string, string>();
  for (const { replica, phase } of node.held()) phases.set(replica.split("/")[1] ?? "", phase);
  return stage.shards.map((shard) => {
    switch (phases.get(shard)) {
      case undefined:
        return "none";
      case "live":
        return "live";
      case "waiting":
      case "activating":
        return "opening";
      default:
        return "draining";
    }
  });
}
