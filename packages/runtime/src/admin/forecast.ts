/**
 * What a plan would move: now, or if nodes left or joined. Placements are pure, so a forecast is the same computation on another view; nothing is
 * written. `balanced` is forecast with the loads that nodes last reported, as it will be planned once no member has come or gone for a while.
 */
import {
  AUCTION,
  BALANCED,
  BalanceController,
  CLAIM,
  dryRun,
  parseReplicaKey,
  replicaKey,
  shardIds,
  type Entry,
  type Plan,
  type View,
} from "@keelson/kernel";
import type { ForecastQuery, ServiceForecast } from "./contract.ts";
import type { FleetFacts } from "./facts.ts";
import type { Plans } from "./plans.ts";

/** How many moves are listed one by one; all are counted. */
const movesShownMax = 1_000;

type Moves = ServiceForecast["moves"];

interface Copy {
  get(key: string): Entry | undefined;
  entries(): Iterable<Entry>;
}

/** Later than anything that waits for calm. */
const calmMs = 10 ** 12;

export function forecast(
  facts: FleetFacts,
  plans: Plans,
  copy: Copy,
  query: ForecastQuery,
  service: string,
): ServiceForecast {
  const current = facts.views.get(service)!.value;
  const view = imagined(current, query);
  const about = {
    service,
    placement: view.algorithm,
    view: view.n,
    replicas: shardIds(view.parameters).length * view.parameters.replicas,
  };
  const none = { ...about, moves: [], movesTotal: 0, nodes: [] };
  if (view.algorithm === AUCTION || view.algorithm === CLAIM)
    return { ...none, note: "its shards go to whoever bids or claims: that cannot be known beforehand" };
  if (view.algorithm === BALANCED) return { ...about, ...balancedForecast(facts, copy, service, view) };
  const plan = plans.compute(service, view, []);
  if (!plan)
    return { ...none, note: `its placement ${view.algorithm} is not known here: ask a gateway or a node` };
  const moves = planned(facts, service, plan);
  return { ...about, ...counted(facts, service, view, moves) };
}

/** The view as it would be. */
function imagined(view: View, { without = [], joining = [] }: ForecastQuery): View {
  const members = view.members.filter(({ node }) => !without.includes(node));
  for (const node of joining)
    if (!members.some((member) => member.node === node)) members.push({ node, zone: "", weight: 1 });
  const same = without.length === 0 && joining.length === 0;
  return same
    ? view
    : { ...view, n: view.n + 1, members: members.sort((a, b) => (a.node < b.node ? -1 : 1)) };
}

/** From whoever holds a replica to whoever the plan names first. */
function planned(facts: FleetFacts, service: string, plan: Plan): Moves {
  const moves: Moves[number][] = [];
  for (const [replica, { candidates, reason }] of plan.lines) {
    const from = facts.tenures.get(replica)?.value.node;
    const to = candidates[0];
    if (from !== to && parseReplicaKey(replica).service === service)
      moves.push({ replica, from, to, reason });
  }
  return moves;
}

function balancedForecast(
  facts: FleetFacts,
  copy: Copy,
  service: string,
  view: View,
): Pick<ServiceForecast, "moves" | "movesTotal" | "nodes" | "note"> {
  const { keys } = facts;
  const key = keys.view(service);
  const stored = copy.get(key);
  const imaginedView = stored && { ...stored, value: JSON.stringify(view) };
  const seen = {
    keys,
    now: 0,
    get: (each: string) => (each === key ? imaginedView : copy.get(each)),
    entries: () => copy.entries(),
  };
  const controller = new BalanceController({ service, node: "" });
  controller.look(seen);
  const input = controller.input({ ...seen, now: calmMs });
  if (!input) return { moves: [], movesTotal: 0, nodes: [], note: "it cannot be planned for yet" };
  const run = dryRun(input);
  const moves = [...run.moves, ...run.waiting].map(({ shard, replica, to, because }) => {
    const name = replicaKey(service, shard, replica);
    return { replica: name, from: facts.tenures.get(name)?.value.node, to, reason: because };
  });
  const refused = run.refusals[0]?.because;
  const note = `by ${run.dimensions.join(" and ")}, once all is calm${refused === undefined ? "" : `; ${refused}`}`;
  return { ...counted(facts, service, view, moves), note };
}

function counted(
  facts: FleetFacts,
  service: string,
  view: View,
  moves: Moves,
): Pick<ServiceForecast, "moves" | "movesTotal" | "nodes"> {
  const before = new Map<string, number>(view.members.map(({ node }) => [node, 0]));
  for (const [replica, { value }] of facts.tenures)
    if (parseReplicaKey(replica).service === service)
      before.set(value.node, (before.get(value.node) ?? 0) + 1);
  const after = new Map(before);
  for (const { from, to } of moves) {
    if (from !== undefined) after.set(from, (after.get(from) ?? 0) - 1);
    if (to !== undefined) after.set(to, (after.get(to) ?? 0) + 1);
  }
  const nodes = [...after.keys()].sort().map((node) => ({
    node,
    before: before.get(node) ?? 0,
    after: after.get(node) ?? 0,
  }));
  return { moves: moves.slice(0, movesShownMax), movesTotal: moves.length, nodes };
}
