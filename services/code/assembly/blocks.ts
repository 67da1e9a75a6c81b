/** Lines that go on for many blocks: how many line breaks lie before each block is written when a segment is made, so that whoever looks for the end of a line passes over blocks that have none. */
import { afterLast, count, indexOf } from "./bytes";

/** Writes, for each block of [text, end) and for what comes after the last, how many line breaks lie before it (u32). */
export function countLines(text: usize, end: usize, blockShift: u32, linesBefore: usize): void {
  const blockBytes: usize = (1 as usize) << blockShift;
  let total: u32 = 0;
  for (let block = text; block < end; block += blockBytes) {
    store<u32>(linesBefore, total);
    total += count(block, min(end, block + blockBytes), 10);
    linesBefore += 4;
  }
  store<u32>(linesBefore, total);
}

/** Where blocks are, and what `countLines` wrote of them: with it, lines that go on for many blocks are passed over. */
@unmanaged
export class Blocks {
  text: u32;
  shift: u32;
  linesBefore: u32;
}

function blockOf(b: Blocks, at: usize): usize {
  return (at - b.text) >> b.shift;
}

function blockStart(b: Blocks, block: usize): usize {
  return b.text + (block << b.shift);
}

function linesBefore(b: Blocks, block: usize): u32 {
  return load<u32>((b.linesBefore as usize) + (block << 2));
}

/** How many line breaks lie before `at`. */
export function linesUpTo(b: Blocks, at: usize): u32 {
  const block = blockOf(b, at);
  return linesBefore(b, block) + count(blockStart(b, block), at, 10);
}

/** As `afterLast` for line breaks, without reading blocks that have none. */
export function lineStartAt(blocks: usize, from: usize, at: usize): usize {
  const b = changetype<Blocks>(blocks);
  let block = blockOf(b, at);
  let low = max(from, blockStart(b, block));
  let found = afterLast(low, at, 10);
  while (found == low && low > from) {
    block -= 1;
    const high = low;
    low = max(from, blockStart(b, block));
    if (linesBefore(b, block) == linesBefore(b, block + 1)) found = low;
    else found = afterLast(low, high, 10);
    // A line break that ends this block is the start of the one after.
    if (found == high) return high;
  }
  return found;
}

/** As `indexOf` for line breaks, without reading blocks that have none. */
export function lineEndAt(blocks: usize, at: usize, end: usize): usize {
  const b = changetype<Blocks>(blocks);
  let block = blockOf(b, at);
  while (at < end) {
    const high = min(end, blockStart(b, block + 1));
    if (linesBefore(b, block) != linesBefore(b, block + 1)) {
      const found = indexOf(at, high, 10);
      if (found != high) return found;
    }
    at = high;
    block += 1;
  }
  return end;
}
