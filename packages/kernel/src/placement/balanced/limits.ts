import type { ServiceParameters } from "../../membership/view.ts";
import { SMOOTHING_DEFAULTS } from "./smooth.ts";

/**
 * How far from even is still good, and how much may move at a time. These are also the options of `balanced/1`, as they stand in a view's
 * `parameters.placement`.
 */
export interface BalancedLimits {
  /** A node above (1 + this) × the average utilisation hands something over. */
  readonly ceilingShare: number;
  /** A node below (1 − this) × the average utilisation gets something. Without a floor a new node would stay empty while nobody is too full. */
  readonly floorShare: number;
  /** Moves that only serve balance, started in one round. */
  readonly churnMovesMax: number;
  /** The sum of their costs. */
  readonly churnCostMax: number;
  /** Planned moves to and from one node at a time, those under way included. What has no holder is placed at once, whatever this says. */
  readonly nodeMovesMax: number;
  /** Planned moves in the fleet at a time, those under way included. */
  readonly fleetMovesMax: number;
}

/**
 * The bench promises 5 %; a ceiling of 4 % leaves one for what loads do between two plans. The floor is wider, because a node with little to do harms nobody; 10 % still brings a new node
 * to nine tenths of its share. The caps on moves are a host's own (`movesMax`), and eight nodes' worth of that for a fleet.
 */
export const BALANCED_DEFAULTS: BalancedLimits = {
  ceilingShare: 0.04,
  floorShare: 0.1,
  churnMovesMax: 128,
  churnCostMax: Infinity,
  nodeMovesMax: 32,
  fleetMovesMax: 256,
};

const shares: readonly (keyof BalancedLimits)[] = ["ceilingShare", "floorShare"];
const counts: readonly (keyof BalancedLimits)[] = ["churnMovesMax", "nodeMovesMax", "fleetMovesMax"];
/** Below this, rounding alone would move replicas. */
const shareMin = 0.001;
const ceilingShareMax = 100;
const floorShareMax = 1;

/** Undefined when the limits can be kept to; otherwise what is wrong, as one sentence that says what to do. */
export function limitsProblem(limits: BalancedLimits): string | undefined {
  for (const name of shares) {
    const value = limits[name];
    const most = name === "ceilingShare" ? ceilingShareMax : floorShareMax;
    if (!(value >= shareMin && value <= most))
      return `placement option ${name} is ${value}: make it a number from ${shareMin} to ${most}`;
  }
  for (const name of counts) {
    const value = limits[name];
    if (!(value === Infinity || (Number.isInteger(value) && value >= 0)))
      return `placement option ${name} is ${value}: make it a whole number from 0 up`;
  }
  if (!(limits.churnCostMax >= 0))
    return `placement option churnCostMax is ${limits.churnCostMax}: make it a number from 0 up`;
  return undefined;
}

/** When the manager of a balanced service acts. These, too, are options of `balanced/1` in a view's `parameters.placement`. */
export interface BalanceTerms {
  /** Moves that only serve balance wait until no member has come or gone for this long. */
  readonly calmMs: number;
  /** And until this long after the last of them began: the churn budget is for so long. */
  readonly roundMs: number;
  /** How often a node measures its shards. */
  readonly measureMs: number;
  /** A load that changed for good counts by half after this long. */
  readonly halfLifeMs: number;
  /** Changes of a load by less than this share change no plan. */
  readonly hysteresisShare: number;
  /** A rolling restart has ended when no node came back for this long. */
  readonly restartQuietMs: number;
}

/**
 * A node that is restarted is back within ten seconds, and what it would have been given meanwhile would be moved twice; two minutes between two nodes of a rolling
 * restart leave time to build what was moved. Smoothing: see smooth.ts.
 */
export const BALANCE_TERMS: BalanceTerms = {
  calmMs: 10_000,
  roundMs: 5_000,
  measureMs: 10_000,
  ...SMOOTHING_DEFAULTS,
  restartQuietMs: 120_000,
};

const times: readonly (keyof BalanceTerms)[] = [
  "calmMs",
  "roundMs",
  "measureMs",
  "halfLifeMs",
  "restartQuietMs",
];
const timeMsMax = 86_400_000;

function termsProblem(terms: BalanceTerms): string | undefined {
  for (const name of times)
    if (!(terms[name] >= 1 && terms[name] <= timeMsMax))
      return `placement option ${name} is ${terms[name]}: make it a number from 1 to ${timeMsMax}`;
  if (!(terms.hysteresisShare >= 0 && terms.hysteresisShare <= 1))
    return `placement option hysteresisShare is ${terms.hysteresisShare}: make it a number from 0 to 1`;
  return undefined;
}

/** Undefined when a service may declare these placement options; otherwise what is wrong, as one sentence that says what to do. */
export function balancedProblem(placement: ServiceParameters["placement"]): string | undefined {
  const known = { ...BALANCED_DEFAULTS, ...BALANCE_TERMS };
  for (const [name, value] of Object.entries(placement)) {
    if (!Object.hasOwn(known, name))
      return `placement option ${JSON.stringify(name)} is not one of balanced/1: it knows ${Object.keys(known).join(", ")}`;
    if (typeof value !== "number")
      return `placement option ${name} is ${JSON.stringify(value)}: make it a number`;
  }
  return (
    limitsProblem({ ...BALANCED_DEFAULTS, ...placement }) ?? termsProblem({ ...BALANCE_TERMS, ...placement })
  );
}

/** The limits of a view, with defaults for those it does not name. Throws on options that {@link balancedProblem} refuses. */
export function balancedLimits(placement: ServiceParameters["placement"]): BalancedLimits {
  return chosen(BALANCED_DEFAULTS, placement);
}

/** The terms of a view, likewise. */
export function balanceTerms(placement: ServiceParameters["placement"]): BalanceTerms {
  return chosen(BALANCE_TERMS, placement);
}

function chosen<T extends object>(defaults: T, placement: ServiceParameters["placement"]): T {
  const problem = balancedProblem(placement);
  if (problem !== undefined) throw new RangeError(problem);
  const own = Object.entries(placement).filter(([name]) => Object.hasOwn(defaults, name));
  return { ...defaults, ...Object.fromEntries(own) };
}
