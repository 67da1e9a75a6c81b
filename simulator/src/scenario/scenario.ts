import { terms as defaultTerms, type Terms } from "@keelson/kernel";
import { readAuction, type AuctionScenario } from "../auction/terms.ts";
import { readLoads, type LoadChange, type LoadScenario } from "../balance/loads.ts";
import { CHECKER_NAMES, type CheckerName } from "../checkers/index.ts";
import type { Range } from "../chance/draw.ts";
import { FAULT_KINDS, type FaultKind } from "../faults/fault.ts";
import { Fields, ScenarioError } from "./fields.ts";

/** A scenario: a fleet, a workload and what goes wrong, as read from a file under `scenarios/`. A regression is a new small file. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly fleet: {
    readonly nodes: number;
    /** Machines beside these that planned operations start and stop. */
    readonly spares: number;
    readonly zones: number;
    readonly shards: number;
    readonly replicas: number;
    readonly primary: boolean;
    readonly placement: PlacementName;
    readonly stabilisationMs: number;
  };
  /** For auctions and claims. */
  readonly repositories: AuctionScenario | undefined;
  /** Where placement goes by load. */
  readonly loads: LoadScenario | undefined;
  readonly terms: Partial<Terms>;
  /** Ranges from which a run draws one number each, for the whole run. */
  readonly knobs: {
    /** Clock rates of nodes lie within 1 ± this; of the store, within half of it. */
    readonly drift: Range;
    readonly floorMs: Range;
    readonly meanMs: Range;
    readonly spikes: Range;
    readonly spikeMs: Range;
    /** The longest a late or repeated message takes, in TTLs. */
    readonly lateTtls: Range;
  };
  readonly service: {
    readonly prepareMs: Range;
    readonly activateMs: Range;
    readonly requestMs: Range;
    readonly openFailures: number;
  };
  readonly workload: {
    readonly clients: number;
    /** Of all clients together. */
    readonly requestsPerSecond: number;
    /** The share of requests that write. */
    readonly writes: number;
    readonly timeoutMs: number;
  };
  readonly faults: {
    /** The mean number that begin in a minute in which the fleet is not left in peace. */
    readonly perMinute: number;
    /** The chance that a fault begins at the very instant of a decision that matters. */
    readonly ambush: number;
    /** Faults other than crashes and store failures last this long, in TTLs. */
    readonly lastTtls: Range;
    readonly restartMs: Range;
    /** Every stretch between two quiet times has its own mixture, drawn around the weights. */
    readonly swarm: boolean;
    readonly weights: ReadonlyMap<FaultKind, number>;
  };
  /** Planned operations: how many a minute, and how long between two. Never when faults are on, except as the fault `drain`. */
  readonly operations: { readonly perMinute: number; readonly weights: ReadonlyMap<OperationKind, number> };
  /** Every so often nothing is wrong for long enough that the fleet must settle. */
  readonly quiet: { readonly everyMs: number; readonly forMs: number };
  readonly checkers: readonly CheckerName[];
}

const PLACEMENTS = ["ring", "balanced", "auction", "claim"] as const;
type PlacementName = (typeof PLACEMENTS)[number];

export type OperationKind = "restart" | "join" | "leave" | "capacity" | LoadChange;

const OPERATION_KINDS: readonly OperationKind[] = ["restart", "join", "leave", "capacity", "drift", "hot"];

/** Checks and completes what a file says. Throws ScenarioError with what is wrong. */
export function readScenario(name: string, parsed: unknown): Scenario {
  const root = new Fields(parsed, name);
  const about = root.text("about");
  const fleet = section(root, "fleet", (f) => ({
    nodes: f.number("nodes"),
    spares: f.number("spares", 0),
    zones: f.number("zones", 1),
    shards: f.number("shards"),
    replicas: f.number("replicas", 1),
    primary: f.flag("primary", false),
    placement: readPlacement(f.text("placement", "ring"), name),
    stabilisationMs: f.number("stabilisationMs", 0),
  }));
  const terms = section(root, "terms", (f) => readTerms(f.numbers(), name));
  const repositories =
    fleet.placement === "auction" || fleet.placement === "claim"
      ? section(root, "repositories", (f) => readAuction(f, `${name}.repositories`))
      : undefined;
  const loads = fleet.placement === "balanced" ? section(root, "loads", readLoads) : undefined;
  const knobs = section(root, "knobs", (f) => ({
    drift: f.range("drift", [0, 0.02]),
    floorMs: f.range("floorMs", [0.1, 1]),
    meanMs: f.range("meanMs", [0.2, 2]),
    spikes: f.range("spikes", [0, 0.002]),
    spikeMs: f.range("spikeMs", [20, 200]),
    lateTtls: f.range("lateTtls", [0.5, 1.5]),
  }));
  const service = section(root, "service", (f) => ({
    prepareMs: f.range("prepareMs", [5, 100]),
    activateMs: f.range("activateMs", [1, 10]),
    requestMs: f.range("requestMs", [0.2, 5]),
    openFailures: f.number("openFailures", 0),
  }));
  const workload = section(root, "workload", (f) => ({
    clients: f.number("clients", 2),
    requestsPerSecond: f.number("requestsPerSecond", 20),
    writes: f.number("writes", 0.5),
    timeoutMs: f.number("timeoutMs", 5_000),
  }));
  const faults = section(root, "faults", (f) => ({
    perMinute: f.number("perMinute", 0),
    ambush: f.number("ambush", 0),
    lastTtls: f.range("lastTtls", [0.1, 2]),
    restartMs: f.range("restartMs", [100, 20_000]),
    swarm: f.flag("swarm", true),
    weights: weightsOf(f, FAULT_KINDS),
  }));
  const operations = section(root, "operations", (f) => ({
    perMinute: f.number("perMinute", 0),
    weights: weightsOf(f, OPERATION_KINDS),
  }));
  const quiet = section(root, "quiet", (f) => ({
    everyMs: f.number("everyMs", 300_000),
    forMs: f.number("forMs", 60_000),
  }));
  const checkers = section(root, "checkers", (f) =>
    checkersWithout(f.texts("off"), faults.weights.size > 0, name),
  );
  root.done();
  return {
    name,
    about,
    fleet,
    repositories,
    loads,
    terms,
    knobs,
    service,
    workload,
    faults,
    operations,
    quiet,
    checkers,
  };
}

function readPlacement(text: string, name: string): PlacementName {
  const known = PLACEMENTS.find((each) => each === text);
  if (known) return known;
  throw new ScenarioError(`${name}.fleet.placement is "${text}"; it may be one of ${PLACEMENTS.join(", ")}`);
}

function section<T>(root: Fields, key: string, read: (fields: Fields) => T): T {
  const fields = root.table(key);
  const value = read(fields);
  fields.done();
  return value;
}

function weightsOf<Kind extends string>(fields: Fields, kinds: readonly Kind[]): Map<Kind, number> {
  const table = fields.table("weights");
  const weights = new Map<Kind, number>();
  for (const kind of kinds) {
    const weight = table.number(kind, 0);
    if (weight > 0) weights.set(kind, weight);
  }
  table.done();
  return weights;
}

function readTerms(numbers: ReadonlyMap<string, number>, name: string): Partial<Terms> {
  const known = new Set(Object.keys(defaultTerms()));
  for (const key of numbers.keys())
    if (!known.has(key)) throw new ScenarioError(`${name}.terms has "${key}", which is not one of the terms`);
  return Object.fromEntries(numbers);
}

/** The checker of planned operations is for scenarios in which nothing else happens. */
function checkersWithout(off: readonly string[], faulty: boolean, name: string): CheckerName[] {
  const unknown = off.find((each) => !(CHECKER_NAMES as readonly string[]).includes(each));
  if (unknown !== undefined)
    throw new ScenarioError(
      `${name}.checkers.off has "${unknown}"; checkers are ${CHECKER_NAMES.join(", ")}`,
    );
  return CHECKER_NAMES.filter((each) => !off.includes(each) && !(faulty && each === "planned"));
}
