/** Every place where a substring is. */
import { lineEndAt } from "./blocks";
import { find } from "./bytes";

/**
 * Every match that starts in [from, to - n], each after the end of the one before or, when `firstOfLine` is not 0, in a later line, as pairs of u32 (start, end). Stops when the output is full.
 * Returns the end of the output; `resumeAt` (a u32) is where the next call goes on, or `to` when all is done.
 */
export function findAll(
  from: usize,
  to: usize,
  needle: usize,
  mask: usize,
  n: u32,
  rareA: u32,
  rareB: u32,
  rareC: u32,
  out: usize,
  outEnd: usize,
  resumeAt: usize,
  firstOfLine: u32,
  blocks: usize,
): usize {
  let at = from;
  while (out < outEnd) {
    at = find(at, to, needle, mask, n, rareA, rareB, rareC);
    if (at >= to) break;
    store<u32>(out, at as u32);
    store<u32>(out, (at + n) as u32, 4);
    out += 8;
    at += n;
    if (firstOfLine != 0) at = min(to, lineEndAt(blocks, at, to) + 1);
  }
  store<u32>(resumeAt, at as u32);
  return out;
}
