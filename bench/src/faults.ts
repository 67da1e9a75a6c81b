/**
 * Does the fleet keep its promises when real processes are killed and stopped, the network to the store swallows, holds and cuts, the store restarts
 * and clocks leap? Every admission, answer and accepted write is written down and checked afterwards.
 */
import { parseArgs } from "node:util";
import { ALL_RULES, type Rules } from "@keelson/kernel";
import type { Bench, BenchContext, BenchResult } from "./bench.ts";
import type { Violation } from "./faults/checks.ts";
import { FaultFleet } from "./faults/fleet.ts";
import { checkHistory } from "./faults/history.ts";
import { Injector } from "./faults/injector.ts";
import { Load } from "./faults/load.ts";
import { FAULT_KINDS, schedule } from "./faults/schedule.ts";
import { faketimeLibrary } from "./faults/wall-clock.ts";
import { badOption, positiveNumber, storeOption, wholeNumber } from "./options.ts";
import type { StoreName } from "./store/bench-store.ts";

interface FaultOptions {
  readonly store: StoreName;
  readonly seed: number;
  readonly minutes: number;
  readonly nodes: number;
  readonly shards: number;
  readonly ttlMs: number;
  readonly broken: keyof Rules | "epochCheck" | undefined;
}

/** Long after the last fault is over, every shard must have been held again: a store outage, an era and a takeover fit in. */
const SETTLE_MS = 60_000;
/** More than this many violations tell no more. */
const SHOWN_MAX = 20;
const SEED_MAX = 2 ** 31;
const NODES_MAX = 16;

const faults: Bench = {
  name: "faults",
  title: "promises kept under kill -9, SIGSTOP, a bad network, store restarts and clock jumps",
  async run(context) {
    const options = readOptions(context.args);
    const { store, seed, nodes, shards, ttlMs, minutes } = options;
    context.progress(
      `--store ${store} --seed ${seed} --minutes ${minutes} --nodes ${nodes} --shards ${shards} --ttl ${ttlMs}`,
    );
    const faketime = await faketimeLibrary(context.progress);
    const kinds = new Set(FAULT_KINDS);
    if (faketime === undefined) kinds.delete("clock-jump");
    const planned = schedule({ seed, nodes, ttlMs, kinds, lastsMs: minutes * 60_000 });
    const fleet = await FaultFleet.start({ ...options, faketime, progress: context.progress });
    try {
      return await attack(
        context,
        options,
        fleet,
        new Injector(fleet.nodes, fleet.store, context.progress),
        planned,
      );
    } finally {
      await fleet.stop();
    }
  },
};

export default faults;

async function attack(
  context: BenchContext,
  { seed, shards, broken: rule }: FaultOptions,
  fleet: FaultFleet,
  injector: Injector,
  planned: ReturnType<typeof schedule>,
): Promise<BenchResult> {
  const load = await Load.open({
    fleet: FaultFleet.fleet,
    store: fleet.store.url(fleet.store.port),
    shards,
    addresses: () => fleet.addresses(),
  });
  try {
    await fleet.joined();
    const first = await load.unheld(SETTLE_MS);
    if (first.length > 0) throw new Error(`${first.length} shards had no holder before the first fault`);
    context.progress(`${shards} shards are held; ${planned.length} faults follow`);
    const asking = load.run();
    await injector.run(planned);
    context.progress("the last fault is over");
    const overAt = performance.now();
    const unheld = await load.unheld(SETTLE_MS);
    const settledMs = performance.now() - overAt;
    load.stop();
    await asking;
    await fleet.stop();
    const { violations, ...counts } = await checkHistory(fleet.history);
    const all = [...violations, ...load.answers.violations];
    const crashes = fleet.nodes.reduce((sum, node) => sum + node.crashes, 0);
    const broken = tell(context, all, unheld, crashes);
    // Where a rule was switched off, violations are what was asked for.
    if (broken.length > 0 && rule === undefined) context.progress(`the history is in ${fleet.history}`);
    else await fleet.forget();
    const count = (kind: Violation["kind"]): number => all.filter((each) => each.kind === kind).length;
    return {
      figures: {
        seed,
        faults: injector.injected,
        ...Object.fromEntries(FAULT_KINDS.map((kind) => [plural(kind), injector.counts.get(kind) ?? 0])),
        overlaps: count("overlap"),
        staleWrites: count("stale-write"),
        staleAnswers: count("stale-answer"),
        lostUpdates: count("lost-update"),
        unheld: unheld.length,
        settledMs,
        requests: load.requests,
        answered: load.answered,
        ...counts,
        crashes,
        refusals: fleet.nodes.reduce((sum, node) => sum + node.refusals, 0),
      },
      peers: {},
      broken,
    };
  } finally {
    await load.close();
  }
}

/** What was broken, for people; empty when every promise was kept. */
function tell(
  context: BenchContext,
  violations: readonly Violation[],
  unheld: readonly string[],
  crashes: number,
): string[] {
  for (const { kind, what } of violations.slice(0, SHOWN_MAX)) context.progress(`${kind}: ${what}`);
  return [
    ...(violations.length > 0 ? [`${violations.length} violations`] : []),
    ...(unheld.length > 0 ? [`nobody holds ${unheld.join(", ")}`] : []),
    ...(crashes > 0 ? [`node processes ended by themselves ${crashes} times`] : []),
  ];
}

function readOptions(args: readonly string[]): FaultOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "embedded" },
      seed: { type: "string", default: String(Math.floor(Math.random() * SEED_MAX)) },
      minutes: { type: "string", default: "3" },
      nodes: { type: "string", default: "4" },
      shards: { type: "string", default: "32" },
      ttl: { type: "string", default: "2000" },
      break: { type: "string" },
    },
  });
  return {
    store: storeOption(values.store),
    seed: wholeNumber("seed", values.seed, 0, SEED_MAX),
    minutes: positiveNumber("minutes", values.minutes, 24 * 60),
    nodes: wholeNumber("nodes", values.nodes, 2, NODES_MAX),
    shards: wholeNumber("shards", values.shards, 1, 10_000),
    ttlMs: wholeNumber("ttl", values.ttl, 500, 60_000),
    broken: values.break === undefined ? undefined : brokenRule(values.break),
  };
}

function brokenRule(name: string): keyof Rules | "epochCheck" {
  const rules = [...(Object.keys(ALL_RULES) as (keyof Rules)[]), "epochCheck" as const];
  const kebab = (rule: string): string => rule.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const found = rules.find((rule) => kebab(rule) === name);
  if (found !== undefined) return found;
  throw badOption(`--break ${name}: there are ${rules.map((rule) => kebab(rule)).join(", ")}`);
}

/** `clock-jump` as the figure `clockJumps`. */
function plural(kind: string): string {
  return `${kind.replaceAll(/-[a-z]/g, (part) => part.slice(1).toUpperCase())}s`;
}
