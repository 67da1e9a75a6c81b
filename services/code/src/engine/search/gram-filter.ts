/** Which blocks of a segment can hold what a plan asks for. */
import { byteClasses, gramOf } from "../kernels/byte-classes.ts";
import { ATOMS_MAX, BITMAPS_MAX, scratchLayout } from "../memory/scratch.ts";
import { frequencyOf } from "../regex/byte-frequency.ts";
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
export function filterBlocks(
  open: OpenSegment,
  { plan, folds, lineBound }: Asked,
  slot: number,
  checkpoint: () => void,
): boolean {
  const { arena, segment } = open;
  const into = bitmapAt(arena, slot);
  const any = evaluate(open, plan, { lineBound, checkpoint }, slot, ATOMS_MAX);
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
  terms: { readonly lineBound: boolean; readonly checkpoint: () => void },
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
      // There can be hundreds, of which each takes some microseconds.
      terms.checkpoint();
      if (!evaluate(open, each, terms, any ? free : slot, any ? free + 1 : free)) continue;
      if (any) kernels.or(into, bitmapAt(arena, free));
      any = true;
    }
    return any;
  }
  // Two literals of one match can lie in different blocks of its document, or of its line.
  let first = true;
  for (const each of plan.of) {
    const target = first ? slot : free;
    if (!evaluate(open, each, terms, target, first ? free : free + 1)) return false;
    const bitmap = bitmapAt(arena, target);
    if (terms.lineBound) kernels.spreadLines(bitmap, segment.joined, segment.unbroken, segment.blocks);
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
