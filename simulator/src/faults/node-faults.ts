import type { Random } from "@keelson/kernel";
import { chance, magnitude, uniform, type Range } from "../chance/draw.ts";
import { PROCESSES, type LinkFault, type Network } from "../network.ts";
import type { SimNode } from "../node.ts";
import { OBJECTS } from "../resource.ts";
import { STORE } from "../store.ts";
import { WATCH } from "../watch-stream.ts";
import type { FaultKind } from "./fault.ts";

/** A fault as drawn, not yet begun. */
export interface DrawnFault {
  readonly detail: string;
  readonly lastsMs: number;
  /** Makes it so; the result undoes it. */
  begin(): () => void;
}

export interface NodeFaultTerms {
  readonly ttlMs: number;
  readonly lastTtls: Range;
}

type NodeFaultKind = Exclude<
  FaultKind,
  `store-${string}` | "wall-step" | "clock-rate" | "expelled" | "drain" | "crash" | "double-crash"
>;

/** Draws a fault of that kind on that node. What each does is in the table of `fault.ts`. */
export function drawNodeFault(
  kind: NodeFaultKind,
  node: SimNode,
  network: Network,
  terms: NodeFaultTerms,
  random: Random,
): DrawnFault {
  const lastsMs = terms.ttlMs * magnitude(random, terms.lastTtls);
  const links = (detail: string, ...faults: LinkFault[]): DrawnFault => ({
    detail,
    lastsMs,
    begin: () => {
      const ends = faults.map((fault) => network.begin(fault));
      return () => {
        for (const end of ends) end();
      };
    },
  });
  const out = { from: node.name, to: STORE };
  const back = { from: STORE, to: node.name };
  const watch = { from: WATCH, to: node.name };
  const watchOut = { from: node.name, to: WATCH };
  /** Some of what a cut link swallows comes out of it long afterwards. */
  const late = { late: 0.3 };
  switch (kind) {
    case "pause":
      return drawPause(node, terms, random);
    case "partition":
      return drawPartition(node, network, lastsMs, random);
    case "deaf":
      return links("", { ...back, cut: true }, { ...watch, cut: true });
    case "mute":
      return links("", { ...out, cut: true, ...late }, { ...watchOut, cut: true });
    case "isolated":
      return links(
        "",
        { from: node.name, to: PROCESSES, cut: true },
        { from: PROCESSES, to: node.name, cut: true },
      );
    case "slow": {
      const delayMs: Range = [0, magnitude(random, [20, 0.4 * terms.ttlMs])];
      return links(
        `up to ${Math.round(delayMs[1])} ms`,
        { ...out, delayMs },
        { ...back, delayMs },
        { ...watch, delayMs },
      );
    }
    case "lossy": {
      const loss = uniform(random, [0.05, 0.6]);
      return links(`${Math.round(loss * 100)} %`, { ...out, loss, ...late }, { ...back, loss });
    }
    case "repeating": {
      const repeat = uniform(random, [0.1, 1]);
      return links(`${Math.round(repeat * 100)} %`, { ...out, repeat });
    }
    case "lost-replies": {
      const loss = uniform(random, [0.3, 0.95]);
      return links(`${Math.round(loss * 100)} %`, { ...back, loss });
    }
    case "stale-watch": {
      const delayMs: Range = [0, magnitude(random, [50, 0.8 * terms.ttlMs])];
      return links(`up to ${Math.round(delayMs[1])} ms`, { ...watch, delayMs });
    }
    case "suspended":
      // Some are over before anybody has looked.
      return {
        detail: "",
        lastsMs: chance(random, 0.2) ? uniform(random, [0, 20]) : lastsMs,
        begin: () => node.suspend(),
      };
    case "fading":
      return drawFading(node, network, terms, random);
    case "brownout": {
      const delayMs: Range = [0, magnitude(random, [0.05, 0.7]) * terms.ttlMs];
      const slow = links(`up to ${Math.round(delayMs[1])} ms`, { from: PROCESSES, to: OBJECTS, delayMs });
      return { ...slow, lastsMs: terms.ttlMs * uniform(random, [1, 4]) };
    }
    case "slow-objects": {
      const delayMs: Range = [0, magnitude(random, [20, 0.5 * terms.ttlMs])];
      return links(`up to ${Math.round(delayMs[1])} ms`, { from: node.name, to: OBJECTS, delayMs });
    }
  }
}

function drawPause(node: SimNode, terms: NodeFaultTerms, random: Random): DrawnFault {
  const ms = terms.ttlMs * magnitude(random, [0.05, 4]);
  const atSend = chance(random, 0.4);
  return {
    detail: `${Math.round(ms)} ms${atSend ? " from the next message on" : ""}`,
    // A node sends something at least at every renewal.
    lastsMs: atSend ? ms + 0.3 * terms.ttlMs : ms,
    begin: () => {
      if (atSend) node.process.pauseAtSend(ms);
      else node.process.pause(ms);
      const life = node.process.life;
      return () => {
        if (life === node.process.life) node.process.resume();
      };
    },
  };
}

/** Both ways. Half of the time the old connection of the watch hangs a little longer than it takes new calls to get through. */
function drawPartition(node: SimNode, network: Network, lastsMs: number, random: Random): DrawnFault {
  const hangs = chance(random, 0.5);
  const callsMs = hangs ? lastsMs * uniform(random, [0.6, 0.98]) : lastsMs;
  const { scheduler } = node.process;
  const cut = (server: string): (() => void) => {
    const ends = [
      network.begin({ from: node.name, to: server, cut: true, late: 0.3 }),
      network.begin({ from: server, to: node.name, cut: true }),
    ];
    return () => {
      for (const end of ends) end();
    };
  };
  return {
    detail: hangs ? `calls get through after ${Math.round(callsMs)} ms,` : "",
    lastsMs,
    begin: () => {
      const endCalls = cut(STORE);
      const endWatch = cut(WATCH);
      const heal = scheduler.after(callsMs, endCalls);
      return () => {
        scheduler.cancel(heal);
        endCalls();
        endWatch();
      };
    },
  };
}

/** First replies are so late that they barely count, then there are none: the time at which a deadline must not begin. */
function drawFading(node: SimNode, network: Network, terms: NodeFaultTerms, random: Random): DrawnFault {
  const { ttlMs } = terms;
  const slowForMs = ttlMs * uniform(random, [0.3, 1]);
  const delayMs: Range = [0.1 * ttlMs, 0.19 * ttlMs];
  const { scheduler } = node.process;
  return {
    detail: `up to ${Math.round(delayMs[1])} ms, nothing after ${Math.round(slowForMs)} ms,`,
    lastsMs: slowForMs + ttlMs * uniform(random, [1, 2]),
    begin: () => {
      let ends = [network.begin({ from: STORE, to: node.name, delayMs })];
      const end = (): void => {
        for (const undo of ends) undo();
      };
      const cut = scheduler.after(slowForMs, () => {
        end();
        ends = [STORE, WATCH].flatMap((server) => [
          network.begin({ from: node.name, to: server, cut: true }),
          network.begin({ from: server, to: node.name, cut: true }),
        ]);
      });
      return () => {
        scheduler.cancel(cut);
        end();
      };
    },
  };
}
