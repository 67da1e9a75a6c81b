/** Which blocks of a segment can hold what a plan asks for. */
import { byteClasses, gramOf } from "../kernels/byte-classes.ts";
import { ATOMS_MAX, BITMAPS_MAX, scratchLayout } from "../memory/scratch.ts";
import { frequencyOf } from "../regex/byte-frequency.ts";
import type { GramPlan } from "../regex/gram-plan.ts";
import { BITMAP_BYTES } from "../segment/format.ts";
import { bitmapAt, type OpenSegment } from "./open-segment.ts";
import type { Pattern } from "./pattern.ts";

type Asked = Pick<
  Pattern,
  "plan" | "folds" | "foldedPlan" | "lineBound" | "longest" | "near" | "whole" | "needleGrams" | "literal"
>;

/** Writes the bitmap into `slot`; false when no block can. Slots from ATOMS_MAX on are for what happens on the way. */
export function filterBlocks(open: OpenSegment, asked: Asked, slot: number, checkpoint: () => void): boolean {
  const { folds, foldedPlan } = asked;
  const { arena, segment } = open;
  const folding = folds && segment.folding !== 0;
  const plan = (folding ? foldedPlan : undefined) ?? asked.plan;
  let any = evaluate(open, plan, { asked, checkpoint }, slot, ATOMS_MAX);
  if (folding && foldedPlan === undefined) {
    const into = bitmapAt(arena, slot);
    if (!any) arena.bytes.fill(0, into, into + BITMAP_BYTES);
    // A match with such a character lies in a line that reaches into one of these blocks, or in a document that is read as a whole.
    arena.kernels.or(into, segment.folding);
    any = true;
  }
  return any && (asked.whole || !asked.near || withNeedle(open, asked, slot));
}

/** Of the blocks in a slot and those that their lines reach, leaves those in which the literal of a pattern may start; false when there are none. */
function withNeedle(open: OpenSegment, asked: Asked, slot: number): boolean {
  const { arena, segment } = open;
  const { kernels } = arena;
  const { plan, needleGrams, literal } = asked;
  const into = bitmapAt(arena, slot);
  if (plan.kind !== "all") spread(open, asked, into);
  if (needleGrams === undefined || needleGrams.length === 0) return true;
  const starts = bitmapAt(arena, ATOMS_MAX);
  const found = lookUp(open, needleGrams, starts, bitmapAt(arena, ATOMS_MAX + 1));
  if (literal?.folds === true && segment.folding !== 0) {
    if (!found) arena.bytes.fill(0, starts, starts + BITMAP_BYTES);
    kernels.or(starts, segment.folding);
  } else if (!found) return false;
  return kernels.and(into, starts) !== 0;
}

/** When it returns false, what the slot holds means nothing. */
function evaluate(
  open: OpenSegment,
  plan: GramPlan,
  terms: { readonly asked: Asked; readonly checkpoint: () => void },
  slot: number,
  free: number,
): boolean {
  const { arena } = open;
  const { kernels } = arena;
  const into = bitmapAt(arena, slot);
  // Too deep to evaluate in the room there is: every block may have it.
  if (plan.kind === "none") return false;
  if (plan.kind === "all" || free + 2 > BITMAPS_MAX) {
    arena.bytes.fill(255, into, into + BITMAP_BYTES);
    return true;
  }
  if (plan.kind === "literal") return literal(open, plan.classes, into, bitmapAt(arena, free));
  if (plan.kind === "or") {
    let any = false;
    for (const each of plan.of) {
      // There can be hundreds, of which each takes some microseconds.
      terms.checkpoint();
      if (!evaluate(open, each, terms, any ? free : slot, any ? free + 1 : free)) continue;
      if (any) kernels.or(into, bitmapAt(arena, free));
      any = true;
    }
    return any;
  }
  let first = true;
  for (const each of plan.of) {
    const target = first ? slot : free;
    if (!evaluate(open, each, terms, target, first ? free : free + 1)) return false;
    spread(open, terms.asked, bitmapAt(arena, target));
    if (!first && kernels.and(into, bitmapAt(arena, free)) === 0) return false;
    first = false;
  }
  return true;
}

/** Two literals of one match can lie in different blocks of its document or of its line, or side by side when no match is long. */
function spread({ arena, segment }: OpenSegment, { lineBound, longest }: Asked, bitmap: number): void {
  const { joined, unbroken, blocks } = segment;
  if (lineBound) arena.kernels.spreadLines(bitmap, joined, longest > 0 ? 0 : unbroken, blocks);
  else arena.kernels.spread(bitmap, joined, blocks);
}

function literal(open: OpenSegment, classes: string, into: number, spare: number): boolean {
  return lookUp(open, gramsOf(classes), into, spare);
}

/** The blocks that have all of some grams; false when there are none. */
function lookUp(open: OpenSegment, grams: Uint32Array, into: number, spare: number): boolean {
  const { arena, segment } = open;
  const at = arena.scratch + scratchLayout.grams;
  arena.words.set(grams, at >>> 2);
  return (
    arena.kernels.literalBlocks(
      segment.directory,
      segment.data,
      segment.blocks,
      at,
      grams.length,
      spare,
      into,
    ) !== 0
  );
}

/** Of the literals that were looked up last: each is looked up in one segment after another. */
const known = new Map<string, Uint32Array>();
const KNOWN_MAX = 1_024;
const GRAMS_MAX = 12;

/** Each once, and of many the rarest: these say almost as much as all of them, and each has to be looked up in every segment. */
function gramsOf(classes: string): Uint32Array {
  let grams = known.get(classes);
  if (grams === undefined) {
    const distinct = new Map<number, number>();
    for (let i = 2; i < classes.length; i += 1) {
      const [a, b, c] = [classes.charCodeAt(i - 2), classes.charCodeAt(i - 1), classes.charCodeAt(i)];
      distinct.set(gramOf(a, b, c), shares[a]! * shares[b]! * shares[c]!);
    }
    const rarest = [...distinct].sort(([, share], [, other]) => share - other).slice(0, GRAMS_MAX);
    grams = Uint32Array.from(rarest, ([gram]) => gram);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(classes, grams);
  }
  return grams;
}

/** Of the bytes of a text, those of each class. */
const shares: readonly number[] = Array.from({ length: 256 }, (_, group) =>
  frequencyOf(Array.from(byteClasses.keys()).filter((byte) => byteClasses[byte] === group)),
);
