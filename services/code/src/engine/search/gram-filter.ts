/** Which blocks of a segment can hold what a plan asks for. */
import { ATOMS_MAX, BITMAPS_MAX, scratchLayout } from "../memory/scratch.ts";
import type { GramPlan } from "../regex/gram-plan.ts";
import { BITMAP_BYTES } from "../segment/format.ts";
import { bitmapAt, type OpenSegment } from "./open-segment.ts";

interface Asked {
  readonly plan: GramPlan;
  readonly folds: boolean;
  /** Every match lies in one line. */
  readonly lineBound: boolean;
}

/** Writes the bitmap into `slot`; false when no block can. Slots from ATOMS_MAX on are for what happens on the way. */
export function filterBlocks(open: OpenSegment, { plan, folds, lineBound }: Asked, slot: number): boolean {
  const { arena, segment } = open;
  const into = bitmapAt(arena, slot);
  const any = evaluate(open, plan, lineBound, slot, ATOMS_MAX);
  if (!folds || segment.folding === 0) return any;
  if (!any) arena.bytes.fill(0, into, into + BITMAP_BYTES);
  // A match with such a character lies in a line that reaches into one of these blocks, or in a document that is read as a whole.
  arena.kernels.or(into, segment.folding);
  return true;
}

/** When it returns false, what the slot holds means nothing. */
function evaluate(
  open: OpenSegment,
  plan: GramPlan,
  lineBound: boolean,
  slot: number,
  free: number,
): boolean {
  const { arena, segment } = open;
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
      if (!evaluate(open, each, lineBound, any ? free : slot, any ? free + 1 : free)) continue;
      if (any) kernels.or(into, bitmapAt(arena, free));
      any = true;
    }
    return any;
  }
  // Two literals of one match can lie in different blocks of its document, or of its line.
  let first = true;
  for (const each of plan.of) {
    const target = first ? slot : free;
    if (!evaluate(open, each, lineBound, target, first ? free : free + 1)) return false;
    const bitmap = bitmapAt(arena, target);
    if (lineBound) kernels.spreadLines(bitmap, segment.joined, segment.unbroken, segment.blocks);
    else kernels.spread(bitmap, segment.joined, segment.blocks);
    if (!first && kernels.and(into, bitmapAt(arena, free)) === 0) return false;
    first = false;
  }
  return true;
}

function literal(open: OpenSegment, classes: string, into: number, spare: number): boolean {
  const { arena, segment } = open;
  const at = arena.scratch + scratchLayout.grams;
  const grams = gramsOf(classes);
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

/** Each once. */
function gramsOf(classes: string): Uint32Array {
  let grams = known.get(classes);
  if (grams === undefined) {
    const distinct = new Set<number>();
    for (let i = 2; i < classes.length; i += 1)
      distinct.add(
        (classes.charCodeAt(i - 2) << 12) | (classes.charCodeAt(i - 1) << 6) | classes.charCodeAt(i),
      );
    grams = Uint32Array.from(distinct);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(classes, grams);
  }
  return grams;
}
