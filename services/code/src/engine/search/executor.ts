/**
 * Runs one query over segments, document by document: narrows by grams, tests the tree, locates what was found, and gives it to a sink. It runs on a searching
 * thread and stops where it is when told to; what was counted until then is exact for what was looked at.
 */
import { MATCHES_MAX, scratchLayout } from "../memory/scratch.ts";
import type { EngineQuery } from "../query.ts";
import { Interrupted } from "./interrupted.ts";
import { MatchList } from "./match-list.ts";
import type { OpenSegment } from "./open-segment.ts";
import type { TextAtom } from "./text-atom.ts";
import { treeOf } from "./tree-cache.ts";
import type { Tree } from "./tree.ts";

export interface Counts {
  files: number;
  lines: number;
  matches: number;
  documents: number;
  documentsScanned: number;
  bytesScanned: number;
}

/** A found document: its matches are read from here before the next one is looked for. */
export interface Found {
  readonly open: OpenSegment;
  readonly segmentNumber: number;
  readonly document: number;
  /** Matches in the content, as addresses; none when only the path is to be shown. */
  readonly content: MatchList;
  readonly path: MatchList;
  /** Whose matches these are; where there are several, `sources` of the list says which. */
  readonly contentAtoms: readonly TextAtom[];
  readonly pathAtoms: readonly TextAtom[];
  readonly boost: number;
}

export interface Sink {
  /** Called for each part of a document's located matches, in order; `located` is the address of records of five u32. */
  located(found: Found, located: number, count: number): void;
  /** Called when the document is complete. */
  end(found: Found): void;
}

interface ExecutionTerms {
  readonly branches: readonly string[];
  readonly matchesMax: number;
  /** Of each line only the first match; matches are then counted as lines. */
  readonly firstOfLine: boolean;
  /** Throws `Interrupted` when the search should stop. */
  readonly checkpoint: () => void;
}

export interface Outcome {
  readonly counts: Counts;
  readonly stopped: "matches-max" | "interrupted" | undefined;
}

export function execute(
  query: EngineQuery,
  segments: readonly { readonly open: OpenSegment; readonly number: number }[],
  terms: ExecutionTerms,
  sink: Sink,
): Outcome {
  const counts: Counts = {
    files: 0,
    lines: 0,
    matches: 0,
    documents: 0,
    documentsScanned: 0,
    bytesScanned: 0,
  };
  let tree: Tree | undefined;
  let stopped: Outcome["stopped"];
  try {
    tree = treeOf(query, terms);
    for (const { open, number } of segments) {
      terms.checkpoint();
      if (!searchSegment(tree, open, number, terms, counts, sink)) {
        stopped = "matches-max";
        break;
      }
    }
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    stopped = "interrupted";
  }
  counts.bytesScanned = tree?.atoms.reduce((sum, atom) => sum + atom.scannedBytes, 0) ?? 0;
  return { counts, stopped };
}

/** False when there were enough matches. */
function searchSegment(
  tree: Tree,
  open: OpenSegment,
  segmentNumber: number,
  terms: ExecutionTerms,
  counts: Counts,
  sink: Sink,
): boolean {
  const { documents } = open.segment;
  counts.documents += documents;
  sayBlocks(open);
  const set = tree.root.enter(open);
  for (let document = set?.next(0) ?? 0; document !== -1 && document < documents;) {
    if (open.masks.isLive(open.firstDocument + document)) {
      terms.checkpoint();
      counts.documentsScanned += 1;
      if (tree.root.test(document)) {
        const atoms = tree.root.matched();
        const contentAtoms = atoms.filter((atom) => atom.content.count > 0 && !atom.namesOnly);
        const pathAtoms = atoms.filter((atom) => atom.path.count > 0);
        const content = together(contentAtoms, "content", merged);
        const path = together(pathAtoms, "path", mergedPath);
        const found: Found = {
          open,
          segmentNumber,
          document,
          content,
          path,
          contentAtoms,
          pathAtoms,
          boost: tree.root.boost(),
        };
        counts.files += 1;
        const lines = locate(found, sink);
        counts.lines +=
          content.count === 0
            ? 1
            : contentAtoms.every(({ pattern }) => pattern.lineBound)
              ? lines
              : linesTouched(found, terms.checkpoint);
        counts.matches +=
          content.count > 0
            ? terms.firstOfLine
              ? lines
              : content.count
            : // Where no text was looked for, the name is the match.
              Math.max(1, path.count);
        sink.end(found);
        if (counts.matches >= terms.matchesMax) return false;
      }
    }
    document = set === undefined ? document + 1 : set.next(document + 1);
  }
  return true;
}

const NOTHING = new MatchList();
/** A thread runs one search at a time, so what holds the matches of several atoms is used again. */
const merged = new MatchList();
const mergedPath = new MatchList();

function together(atoms: readonly TextAtom[], side: "content" | "path", merged: MatchList): MatchList {
  if (atoms.length < 2) return atoms[0]?.[side] ?? NOTHING;
  MatchList.merge(
    atoms.map((atom) => atom[side]),
    merged,
  );
  return merged;
}

/** Lines that are looked at between two looks at the time. */
const STEP_LINES = 1_000;

/** How many lines have a part of a match, where matches may go on over several. What is nothing but line breaks is on the line where it begins. */
function linesTouched({ content, open, document }: Found, checkpoint: () => void): number {
  const { segment, arena } = open;
  const start = segment.start(document);
  const text = arena.bytes.subarray(start, start + segment.contentBytes(document));
  let lines = 0;
  /** Where the last line that was counted ends. */
  let countedTo = -1;
  let steps = 0;
  const touch = (at: number, end: number): void => {
    if (at > countedTo) lines += 1;
    countedTo = Math.max(countedTo, end);
  };
  for (let i = 0; i < content.count; i += 1) {
    const from = content.pairs[i * 2]! - start;
    const to = content.pairs[i * 2 + 1]! - start;
    let touched = false;
    for (let at = from; at < to;) {
      if (++steps % STEP_LINES === 0) checkpoint();
      const end = lineEnd(text, at);
      if (at < end) touch(at, end);
      touched ||= at < end;
      at = end + 1;
    }
    if (!touched) touch(from, lineEnd(text, from));
  }
  return lines;
}

/** Where its line break is, or its end. */
function lineEnd(text: Uint8Array, at: number): number {
  const end = text.indexOf(10, at);
  return end === -1 ? text.length : end;
}

/** Where the kernels find the blocks of the segment, and the line breaks before each. */
function sayBlocks({ arena, segment }: OpenSegment): void {
  const at = (arena.scratch + scratchLayout.blocks) >>> 2;
  arena.words.set([segment.text, segment.blockShift, segment.linesBefore], at);
}

/** In parts that fit the scratch. Returns the number of lines that matches start on. */
function locate(found: Found, sink: Sink): number {
  const { content, open, document } = found;
  const { arena, segment } = open;
  const start = segment.start(document);
  const end = start + segment.contentBytes(document);
  const matches = arena.scratch + scratchLayout.matches;
  const located = arena.scratch + scratchLayout.located;
  const blocks = arena.scratch + scratchLayout.blocks;
  let lines = 0;
  let lastLine = 0;
  for (let from = 0; from < content.count; from += MATCHES_MAX) {
    const count = Math.min(MATCHES_MAX, content.count - from);
    arena.words.set(content.pairs.subarray(from * 2, (from + count) * 2), matches >>> 2);
    lines += arena.kernels.locate(matches, count, start, end, located, blocks);
    const words = arena.words;
    // A line that the part before ended on was counted there.
    if (from > 0 && words[(located >>> 2) + 2] === lastLine) lines -= 1;
    lastLine = words[(located >>> 2) + (count - 1) * 5 + 2]!;
    sink.located(found, located, count);
  }
  return lines;
}
