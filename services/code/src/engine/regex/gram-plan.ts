/**
 * What the grams of a segment can say about an expression: a condition that every document with a match meets. Its leaves are strings of byte classes (a byte beyond ASCII is a class of its own); a leaf
 * is true for the blocks in which such a string may start. The way of thinking is that of Russ Cox's trigram index: for each part of the expression, which whole strings
 * it matches if they are few, else how its matches begin and end.
 */
import { byteClasses } from "../kernels/byte-classes.ts";
import type { Node } from "./syntax.ts";
import { size } from "./char-set.ts";

export type GramPlan =
  | { readonly kind: "all" }
  | { readonly kind: "none" }
  /** One character per byte class, at least three. */
  | { readonly kind: "literal"; readonly classes: string }
  | { readonly kind: "and" | "or"; readonly of: readonly GramPlan[] };

export interface GramAnalysis {
  readonly plan: GramPlan;
  /** A character beyond ASCII may stand for a letter in it: where there are such characters the folded plan counts or, without one, blocks that have them are candidates whatever the plan says. */
  readonly folds: boolean;
  /** The same with these characters beside the letters, where that makes few strings. */
  readonly foldedPlan: GramPlan | undefined;
}

interface Part {
  /** All strings it matches, when these are few. */
  readonly exact: ReadonlySet<string> | undefined;
  readonly prefix: ReadonlySet<string>;
  readonly suffix: ReadonlySet<string>;
  readonly plan: GramPlan;
}

const ALL: GramPlan = { kind: "all" };
const NOTHING: ReadonlySet<string> = new Set([""]);
/** Enough for two digits beside another character. */
const SET_MAX = 128;
const EXACT_LENGTH_MAX = 64;
const EDGE_LENGTH_MAX = 24;
const REPEAT_COPIES_MAX = 4;
/** So many strings are looked up one by one, even if they begin alike. */
const FEW = 8;
/** Conditions that are asked for together: more would say little and cost much. */
const AND_MAX = 32;
/** Strings of one plan; an expression with more alternatives is looked for everywhere. */
const STRINGS_MAX = 512;
/** Letters with such a character beside them that are asked for both ways: each makes twice as many strings. */
const FOLDS_MAX = 4;

/** `checkpoint` is called for each part, and may throw to stop. */
export function analyseGrams(node: Node, checkpoint: () => void = () => undefined): GramAnalysis {
  const analyser = new Analyser(checkpoint, false);
  const { plan } = settle(analyser.part(node));
  if (analyser.folds === 0 || analyser.folds > FOLDS_MAX)
    return { plan, folds: analyser.folds > 0, foldedPlan: undefined };
  const folded = settle(new Analyser(checkpoint, true).part(node)).plan;
  return { plan, folds: true, foldedPlan: folded.kind === "all" ? undefined : folded };
}

/** The plan of a substring given as bytes. */
export function literalPlan(bytes: Uint8Array): GramPlan {
  return oneOf(new Set([classString(bytes)]));
}

class Analyser {
  /** How many sets of characters have one beyond ASCII that folds to a letter. */
  folds = 0;
  readonly #checkpoint: () => void;
  readonly #folded: boolean;

  /** `folded`: with characters beyond ASCII that fold to letters. */
  constructor(checkpoint: () => void, folded: boolean) {
    this.#checkpoint = checkpoint;
    this.#folded = folded;
  }

  part(node: Node): Part {
    this.#checkpoint();
    switch (node.kind) {
      case "empty":
      case "assert":
        return { exact: NOTHING, prefix: NOTHING, suffix: NOTHING, plan: ALL };
      case "chars":
        return this.#chars(node.ranges, node.folded);
      case "concat":
        return this.#joined(node.of, concat);
      case "either":
        return this.#joined(node.of, either);
      case "repeat": {
        if (node.max === 0) return this.part({ kind: "empty" });
        const inside = this.part(node.of);
        if (node.min === 0) {
          return node.max === 1
            ? either(inside, { exact: NOTHING, prefix: NOTHING, suffix: NOTHING, plan: ALL })
            : { exact: undefined, prefix: NOTHING, suffix: NOTHING, plan: ALL };
        }
        const copies = Math.min(node.min, REPEAT_COPIES_MAX);
        let whole = inside;
        for (let i = 1; i < copies; i += 1) whole = concat(whole, inside);
        if (node.max === copies) return whole;
        const loose = settle(whole);
        return { ...loose, exact: undefined };
      }
    }
  }

  #joined(of: readonly Node[], join: (a: Part, b: Part) => Part): Part {
    return of
      .map((each) => this.part(each))
      .reduce((a, b) => {
        this.#checkpoint();
        return join(a, b);
      });
  }

  #chars(ranges: readonly number[], folded: boolean): Part {
    if (ranges.length === 0)
      return { exact: undefined, prefix: NOTHING, suffix: NOTHING, plan: { kind: "none" } };
    const strings = new Set<string>();
    if (size(ranges) <= SET_MAX * 3) {
      for (let i = 0; i < ranges.length; i += 2) {
        for (let at = ranges[i]!; at <= ranges[i + 1]!; at += 1) {
          if (folded && !this.#folded && (at === 0x212a || at === 0x17f)) this.folds += 1;
          else strings.add(classString(Buffer.from(String.fromCodePoint(at))));
        }
      }
    }
    if (strings.size === 0 || strings.size > SET_MAX)
      return { exact: undefined, prefix: NOTHING, suffix: NOTHING, plan: ALL };
    return { exact: strings, prefix: strings, suffix: strings, plan: ALL };
  }
}

function concat(a: Part, b: Part): Part {
  if (a.exact !== undefined && b.exact !== undefined) {
    const exact = cross(a.exact, b.exact);
    if (exact !== undefined && longest(exact) <= EXACT_LENGTH_MAX)
      return { exact, prefix: exact, suffix: exact, plan: and(a.plan, b.plan) };
  }
  const left = a.exact === undefined ? a : undefined;
  const right = b.exact === undefined ? b : undefined;
  let plan = and(a.plan, b.plan);
  // Where two parts meet, the end of one and the beginning of the other make strings of their own.
  const middle = cross(a.exact ?? a.suffix, b.exact ?? b.prefix);
  if (middle !== undefined) plan = and(plan, oneOf(middle));
  else plan = and(plan, and(oneOf(a.exact ?? a.suffix), oneOf(b.exact ?? b.prefix)));
  const begin = left?.prefix ?? cross(a.exact ?? NOTHING, b.exact ?? b.prefix) ?? a.exact ?? NOTHING;
  const end = right?.suffix ?? cross(a.exact ?? a.suffix, b.exact ?? NOTHING) ?? b.exact ?? NOTHING;
  return { exact: undefined, prefix: heads(begin), suffix: tails(end), plan };
}

function either(a: Part, b: Part): Part {
  if (a.exact !== undefined && b.exact !== undefined && a.plan === ALL && b.plan === ALL) {
    const exact = new Set([...a.exact, ...b.exact]);
    if (exact.size <= SET_MAX) return { exact, prefix: exact, suffix: exact, plan: ALL };
  }
  const [x, y] = [settle(a), settle(b)];
  return {
    exact: undefined,
    prefix: heads(new Set([...x.prefix, ...y.prefix])),
    suffix: tails(new Set([...x.suffix, ...y.suffix])),
    plan: or(x.plan, y.plan),
  };
}

/** Puts what is known of the strings into the plan, where it cannot be lost. */
function settle(part: Part): Part {
  if (part.exact === undefined)
    return { ...part, plan: and(part.plan, and(oneOf(part.prefix), oneOf(part.suffix))) };
  return {
    exact: undefined,
    prefix: heads(part.exact),
    suffix: tails(part.exact),
    plan: and(part.plan, oneOf(part.exact)),
  };
}

function oneOf(strings: ReadonlySet<string>): GramPlan {
  const shared = commonHead(strings);
  if (strings.size > FEW && shared.length >= 3) {
    // Once for all of them, then the little in which they differ. A few are better asked for whole: two conditions need not hold in one place.
    const rest = new Set(Array.from(strings, (each) => each.slice(shared.length - 2)));
    return and({ kind: "literal", classes: shared.slice(0, EXACT_LENGTH_MAX) }, oneOf(rest));
  }
  const of: GramPlan[] = [];
  for (const each of strings) {
    if (each.length < 3) return ALL;
    of.push({ kind: "literal", classes: each.slice(0, EXACT_LENGTH_MAX) });
  }
  return of.length === 1 ? of[0]! : { kind: "or", of };
}

function commonHead(strings: ReadonlySet<string>): string {
  let head: string | undefined;
  for (const each of strings) {
    head ??= each;
    while (!each.startsWith(head)) head = head.slice(0, -1);
  }
  return head ?? "";
}

function and(a: GramPlan, b: GramPlan): GramPlan {
  if (a.kind === "all" || b.kind === "none") return b;
  if (b.kind === "all" || a.kind === "none") return a;
  const of = [...(a.kind === "and" ? a.of : [a]), ...(b.kind === "and" ? b.of : [b])];
  const distinct = new Map(of.map((each) => [keyOf(each), each]));
  // Leaving one out asks for less, which is never wrong.
  let room = 2 * STRINGS_MAX;
  const plans = [...distinct.values()]
    .filter((each) => !implied(each, of))
    .filter((each) => (room -= strings(each)) >= 0)
    .slice(0, AND_MAX);
  if (plans.length === 0) return ALL;
  return plans.length === 1 ? plans[0]! : { kind: "and", of: plans };
}

/** A literal inside another that is also asked for says nothing. */
function implied(plan: GramPlan, among: readonly GramPlan[]): boolean {
  if (plan.kind !== "literal") return false;
  return among.some(
    (each) =>
      each.kind === "literal" &&
      each.classes.length > plan.classes.length &&
      each.classes.includes(plan.classes),
  );
}

function or(a: GramPlan, b: GramPlan): GramPlan {
  if (a.kind === "none" || b.kind === "all") return b;
  if (b.kind === "none" || a.kind === "all") return a;
  if (strings(a) + strings(b) > STRINGS_MAX) return ALL;
  return { kind: "or", of: [...(a.kind === "or" ? a.of : [a]), ...(b.kind === "or" ? b.of : [b])] };
}

const keys = new WeakMap<GramPlan, string>();

/** The same for equal plans. */
function keyOf(plan: GramPlan): string {
  const known = keys.get(plan);
  if (known !== undefined) return known;
  const key =
    plan.kind === "literal"
      ? `"${plan.classes}"`
      : plan.kind === "and" || plan.kind === "or"
        ? `${plan.kind}(${plan.of.map(keyOf).join()})`
        : plan.kind;
  keys.set(plan, key);
  return key;
}

const counted = new WeakMap<GramPlan, number>();

function strings(plan: GramPlan): number {
  if (plan.kind !== "and" && plan.kind !== "or") return 1;
  const known = counted.get(plan);
  if (known !== undefined) return known;
  const count = plan.of.reduce((sum, each) => sum + strings(each), 0);
  counted.set(plan, count);
  return count;
}

function cross(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> | undefined {
  if (a.size * b.size > SET_MAX) return undefined;
  const out = new Set<string>();
  for (const x of a) for (const y of b) out.add(x + y);
  return out;
}

function heads(strings: ReadonlySet<string>): ReadonlySet<string> {
  return shorten(strings, (each, length) => each.slice(0, length));
}

function tails(strings: ReadonlySet<string>): ReadonlySet<string> {
  return shorten(strings, (each, length) => each.slice(Math.max(0, each.length - length)));
}

function shorten(
  strings: ReadonlySet<string>,
  cut: (each: string, length: number) => string,
): ReadonlySet<string> {
  for (const length of [EDGE_LENGTH_MAX, 5, 3]) {
    const shorter = new Set(Array.from(strings, (each) => cut(each, length)));
    if (shorter.size <= SET_MAX) return shorter;
  }
  return NOTHING;
}

function longest(strings: ReadonlySet<string>): number {
  let most = 0;
  for (const each of strings) most = Math.max(most, each.length);
  return most;
}

function classString(bytes: Uint8Array): string {
  return String.fromCharCode(...Array.from(bytes, (byte) => byteClasses[byte]!));
}
