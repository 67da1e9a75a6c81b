import type { AuctionPart } from "../identity/keys.ts";
import type { ManagerRecord } from "../control/election.ts";
import type {
  AuctionConfig,
  Award,
  Bidder,
  Demand,
  Footprint,
  MoveRequest,
  Override,
  Pass,
  Round,
} from "./records.ts";

/**
 * Whether a stored value below `auction/` is a record that this version knows. Anything may lie there: what an earlier version wrote, or what a hand did. Such a record must keep no node from
 * working, so it is read as if it said nothing; who writes there next replaces it. Fields that are not known survive.
 */

/** The record of each part. */
export interface AuctionRecords {
  readonly config: AuctionConfig;
  readonly override: Override;
  readonly evaluator: ManagerRecord;
  readonly bidder: Bidder;
  readonly pass: Pass;
  readonly round: Round;
  readonly award: Award;
  readonly move: MoveRequest;
  readonly footprint: Footprint;
  readonly demand: Demand;
}

export interface Reading<T> {
  /** Undefined: it is as if there were none. */
  readonly value: T | undefined;
  /** What is wrong with it, as the end of a sentence. */
  readonly problem: string | undefined;
}

/** What the value says. Of a seat whose bid cannot be read the seat is left. */
export function readRecord<P extends AuctionPart>(part: P, value: unknown): Reading<AuctionRecords[P]> {
  const fields = FIELDS[part] as Readonly<Record<string, Check>> | undefined;
  if (!fields) return { value: undefined, problem: "is of a kind that this version does not know" };
  if (!isObject(value)) return { value: undefined, problem: "is no object" };
  const wrong = wrongField(value, fields);
  if (wrong === undefined) return { value: value as unknown as AuctionRecords[P], problem: undefined };
  const problem = `has no proper ${wrong}`;
  if (part !== "bidder" || wrong !== "bid") return { value: undefined, problem };
  const { bid: _, ...seat } = value;
  return { value: seat as unknown as AuctionRecords[P], problem };
}

/** The same from a stored text. */
export function readRecordText<P extends AuctionPart>(part: P, text: string): Reading<AuctionRecords[P]> {
  return readRecord(part, auctionValue(text));
}

/** The text as a value; undefined when it is no JSON, which no record is. */
export function auctionValue(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * What stands in for a record that cannot be read where the next writer has to guard on its revision. It says nothing: no answer counts in it, no session is the one it names. The parts left out are
 * read as absent.
 */
export const NOTHING_SAID: {
  readonly [P in "evaluator" | "pass" | "round" | "award" | "move" | "demand"]: AuctionRecords[P];
} = {
  evaluator: { v: 1, node: "", session: "", era: 0, since: 0 },
  pass: { v: 1, node: "", session: "", round: 0, tenure: 0, maxBids: 0, reason: "" },
  round: { v: 1, n: 0, empties: 0, unheldAt: 0, last: "" },
  award: { v: 1, node: "", session: "", from: "", fromSession: "", reason: "" },
  move: { v: 1, fromSession: "", by: "", reason: "" },
  demand: { v: 1, replicas: [], count: 0, bytes: 0, reason: "", since: 0 },
};

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const amount: Check = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const texts: Check = (value) => Array.isArray(value) && value.every(text);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const LOT = { replica: text, round: amount, tenure: amount, maxBids: amount, bytes: amount };

/** A bid may offer less than nothing: its node's memory has shrunk since. It wins nothing then. */
const isBid: Check = (value) =>
  isObject(value) &&
  Number.isFinite(value["freeBytes"]) &&
  Array.isArray(value["lots"]) &&
  value["lots"].length > 0 &&
  value["lots"].every((lot) => isObject(lot) && wrongField(lot, LOT) === undefined);

const FIELDS: { readonly [P in AuctionPart]: Readonly<Record<string, Check>> } = {
  config: { maxBids: optional(amount) },
  override: {
    pinned: optional((value) => typeof value === "boolean"),
    maxBids: optional(amount),
    zones: optional(texts),
  },
  evaluator: { node: text, session: text, era: amount, since: amount },
  bidder: {
    node: text,
    boot: text,
    session: text,
    address: text,
    budgetBytes: amount,
    bid: optional(isBid),
  },
  pass: { node: text, session: text, round: amount, tenure: amount, maxBids: amount, reason: text },
  round: { n: amount, empties: amount, unheldAt: amount, last: text },
  award: { node: text, session: text, from: text, fromSession: text, reason: text },
  move: { fromSession: text, by: text, reason: text },
  footprint: { bytes: amount },
  demand: { replicas: texts, count: amount, bytes: amount, reason: text, since: amount },
};

/** The first field, in the order given, that is not as it should be. */
function wrongField(
  value: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Check>>,
): string | undefined {
  return Object.keys(fields).find((name) => !fields[name]!(value[name]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
