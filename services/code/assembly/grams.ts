/**
 * Postings of one segment: which of its blocks a gram starts in. A gram is three bytes, each as one of 64 classes; four of the classes are no ASCII byte's, and what begins with
 * them is a hash. Built by `extract`, `scatter`, `encode` in this order; read by `literalBlocks`. A bitmap has one bit per block and is always 512 bytes long.
 *
 * The directory has one entry of 12 bytes per 64 grams: a 64-bit map of those that occur, and where their data begins. The data is one u16
 * length for each of them, then their postings. A posting as long as the bitmap of the segment's blocks is that bitmap; a shorter one is a list of gaps, one or two bytes each.
 */

import { indexOf } from "./bytes";

const GROUPS: u32 = 4096;
const BITMAP_BYTES: u32 = 512;

/**
 * Writes the distinct grams of each block to `grams` (u32 each), how many that are per block to `perBlock` (u32), and counts them in `counts` (u32 per gram, zero before).
 * A block also has the grams that start in the `overlap` bytes after it, so that a literal of that length is whole in the block it starts in.
 * `seen` is 262144 bytes, zero before and after. Returns the end of `grams`.
 */
export function extract(
  text: usize,
  end: usize,
  blockShift: u32,
  overlap: u32,
  classes: usize,
  seen: usize,
  counts: usize,
  grams: usize,
  perBlock: usize,
): usize {
  const blockBytes: usize = (1 as usize) << blockShift;
  let out = grams;
  for (let block = text; block < end; block += blockBytes) {
    const begin = out;
    const stop = min(end, block + blockBytes + overlap + 2);
    let at = block;
    while (at + 2 < stop) {
      // Sixteen grams at a time; almost all of them are of ASCII alone.
      const last = min(stop - 2, at + 16);
      if (isAscii(at, last + 2)) {
        let gram = ((load<u8>(classes + load<u8>(at)) as u32) << 6) | load<u8>(classes + load<u8>(at, 1));
        for (; at < last; at += 1) {
          gram = ((gram << 6) | load<u8>(classes + load<u8>(at, 2))) & 0x3ffff;
          out = note(out, gram, seen);
        }
      } else {
        for (; at < last; at += 1) out = note(out, gramAt(at, classes), seen);
      }
    }
    for (let each = begin; each < out; each += 4) {
      const gram = load<u32>(each);
      store<u8>(seen + gram, 0);
      const counter = counts + (gram << 2);
      store<u32>(counter, load<u32>(counter) + 1);
    }
    store<u32>(perBlock, ((out - begin) >> 2) as u32);
    perBlock += 4;
  }
  return out;
}

/** Writes a gram that was not seen in this block yet; where the next one goes. */
function note(out: usize, gram: u32, seen: usize): usize {
  store<u32>(out, gram);
  const known: u32 = load<u8>(seen + gram);
  store<u8>(seen + gram, 1);
  return out + ((1 - known) << 2);
}

/** Whether none of the at most 18 bytes of [from, to) is beyond ASCII; of fewer than 18 it may say no. */
function isAscii(from: usize, to: usize): bool {
  if (from + 18 != to) return false;
  return i8x16.bitmask(v128.or(v128.load(from), v128.load(from + 2))) == 0;
}

/** The gram of three bytes of which some may be beyond ASCII; kernels/byte-classes.ts says the same. */
function gramAt(at: usize, classes: usize): u32 {
  const x: u32 = load<u8>(classes + load<u8>(at));
  const y: u32 = load<u8>(classes + load<u8>(at, 1));
  const z: u32 = load<u8>(classes + load<u8>(at, 2));
  if (x >= 128) return 0x3c000 | ((((x << 16) | (y << 8) | z) * 0x9e3779b1) >> 18);
  if (y >= 128) return (x << 12) | 0xf00 | ((((y << 8) | z) * 0x9e3779b1) >> 24);
  if (z >= 128) return (x << 12) | (y << 6) | 0x3c | (z & 3);
  return (x << 12) | (y << 6) | z;
}

/** Turns `counts` into where each gram's blocks begin in `ids`, then puts the block numbers (u16) there. After it, `counts` holds where each gram's blocks end. */
export function scatter(grams: usize, perBlock: usize, blocks: u32, counts: usize, ids: usize): void {
  let total: u32 = 0;
  for (let counter = counts, stop = counts + 262144 * 4; counter < stop; counter += 4) {
    const n = load<u32>(counter);
    store<u32>(counter, total);
    total += n;
  }
  let at = grams;
  for (let block: u32 = 0; block < blocks; block += 1) {
    const stop = at + ((load<u32>(perBlock + (block << 2)) as usize) << 2);
    for (; at < stop; at += 4) {
      const counter = counts + ((load<u32>(at) as usize) << 2);
      const position = load<u32>(counter);
      store<u16>(ids + ((position as usize) << 1), block as u16);
      store<u32>(counter, position + 1);
    }
  }
}

/** Writes the directory and the data; offsets in the directory count from `data`. Zeroes `counts`. Returns the end of the data. */
export function encode(counts: usize, ids: usize, blocks: u32, directory: usize, data: usize): usize {
  const bitmapBytes: u32 = (blocks + 7) >> 3;
  const base = data;
  let from: u32 = 0;
  for (let group: u32 = 0; group < GROUPS; group += 1) {
    const first = counts + ((group << 6) << 2);
    let map: u64 = 0;
    let present: u32 = 0;
    let previous = from;
    for (let i: u32 = 0; i < 64; i += 1) {
      const end = load<u32>(first + (i << 2));
      if (end != previous) {
        map |= (1 as u64) << (i as u64);
        present += 1;
      }
      previous = end;
    }
    store<u64>(directory, map);
    store<u32>(directory, (data - base) as u32, 8);
    directory += 12;
    if (present == 0) {
      memory.fill(first, 0, 256);
      continue;
    }
    let length = data;
    data += present << 1;
    for (let i: u32 = 0; i < 64; i += 1) {
      const end = load<u32>(first + (i << 2));
      store<u32>(first + (i << 2), 0);
      if (end == from) continue;
      const bytes = encodeList(ids + ((from as usize) << 1), end - from, bitmapBytes, data);
      store<u16>(length, bytes as u16);
      length += 2;
      data += bytes;
      from = end;
    }
  }
  return data;
}

function encodeList(ids: usize, n: u32, bitmapBytes: u32, out: usize): u32 {
  if (n < bitmapBytes) {
    let previous: i32 = -1;
    let at = out;
    const limit = out + bitmapBytes;
    for (let each = ids, stop = ids + ((n as usize) << 1); each < stop; each += 2) {
      const id: i32 = load<u16>(each);
      const gap: u32 = (id - previous - 1) as u32;
      previous = id;
      if (gap < 128) {
        store<u8>(at, gap as u8);
        at += 1;
      } else {
        store<u8>(at, (gap >> 7) | 128);
        store<u8>(at, gap & 127, 1);
        at += 2;
      }
      if (at >= limit) break;
    }
    if (at < limit) return (at - out) as u32;
  }
  memory.fill(out, 0, bitmapBytes);
  for (let each = ids, stop = ids + ((n as usize) << 1); each < stop; each += 2) {
    const id: u32 = load<u16>(each);
    const byte = out + (id >> 3);
    store<u8>(byte, load<u8>(byte) | ((1 as u32) << (id & 7)));
  }
  return bitmapBytes;
}

/**
 * The blocks that hold every one of `n` grams (u32 each), as a bitmap in `out`. `scratch` is another bitmap, and after the grams there is room for `n` times eight bytes. Returns whether there is any.
 */
export function literalBlocks(
  directory: usize,
  data: usize,
  blocks: u32,
  grams: usize,
  n: u32,
  scratch: usize,
  out: usize,
): bool {
  const bitmapBytes: u32 = (blocks + 7) >> 3;
  for (let i: u32 = 0; i < n; i += 1) {
    const gram = load<u32>(grams + (i << 2));
    const map = load<u64>(directory + (gram >> 6) * 12);
    if (((map >> ((gram & 63) as u64)) & 1) == 0) return false;
  }
  const places = grams + (n << 2);
  for (let i: u32 = 0; i < n; i += 1) {
    const gram = load<u32>(grams + (i << 2));
    const entry = directory + (gram >> 6) * 12;
    const map = load<u64>(entry);
    const below: u64 = map & (((1 as u64) << ((gram & 63) as u64)) - 1);
    let length = data + load<u32>(entry, 8);
    let at = length + ((popcnt(map) as usize) << 1);
    for (let rank = popcnt(below) as u32; rank > 0; rank -= 1) {
      at += load<u16>(length);
      length += 2;
    }
    store<u32>(places + (i << 3), at as u32);
    store<u32>(places + (i << 3), load<u16>(length), 4);
  }
  // The shortest first: what is nowhere together with it is known before the long ones are read.
  for (let i: u32 = 0; i < n; i += 1) {
    let shortest = places + (i << 3);
    for (let each = shortest + 8; each < places + (n << 3); each += 8)
      if (load<u32>(each, 4) < load<u32>(shortest, 4)) shortest = each;
    const at: usize = load<u32>(shortest);
    const bytes = load<u32>(shortest, 4);
    store<u64>(shortest, load<u64>(places + (i << 3)));
    decode(at, bytes, bitmapBytes, i == 0 ? out : scratch);
    if (i > 0 && !and(out, scratch)) return false;
  }
  return true;
}

function decode(at: usize, bytes: u32, bitmapBytes: u32, out: usize): void {
  memory.fill(out, 0, BITMAP_BYTES);
  if (bytes == bitmapBytes) {
    memory.copy(out, at, bytes);
    return;
  }
  const stop = at + bytes;
  let id: u32 = 0;
  while (at < stop) {
    let gap: u32 = load<u8>(at);
    at += 1;
    if (gap >= 128) {
      gap = ((gap & 127) << 7) | load<u8>(at);
      at += 1;
    }
    id += gap;
    const byte = out + (id >> 3);
    store<u8>(byte, load<u8>(byte) | ((1 as u32) << (id & 7)));
    id += 1;
  }
}

/** into &= other; returns whether anything is left. */
export function and(into: usize, other: usize): bool {
  let any = i64x2.splat(0);
  for (let i: usize = 0; i < BITMAP_BYTES; i += 16) {
    const both = v128.and(v128.load(into + i), v128.load(other + i));
    v128.store(into + i, both);
    any = v128.or(any, both);
  }
  return v128.any_true(any);
}

/** into |= other. */
export function or(into: usize, other: usize): void {
  for (let i: usize = 0; i < BITMAP_BYTES; i += 16) {
    v128.store(into + i, v128.or(v128.load(into + i), v128.load(other + i)));
  }
}

/**
 * Spreads every bit over the blocks of the documents that lie in its block. Bit b of `joined` says that a document goes on from block b - 1 into b; the bitmap
 * after it says that a document starts in b, so what goes on into b ends there.
 */
export function spread(bitmap: usize, joined: usize, blocks: u32): void {
  const starts = joined + BITMAP_BYTES;
  let on = false;
  for (let b: u32 = 0; b < blocks; b += 1) {
    const byte = bitmap + (b >> 3);
    const bit: u32 = (1 as u32) << (b & 7);
    if ((load<u8>(byte) & bit) != 0) on = true;
    else if (on) {
      if ((load<u8>(joined + (b >> 3)) & bit) != 0) {
        store<u8>(byte, load<u8>(byte) | bit);
        on = (load<u8>(starts + (b >> 3)) & bit) == 0;
      } else on = false;
    }
  }
  on = false;
  for (let b: i32 = (blocks as i32) - 1; b >= 0; b -= 1) {
    const byte = bitmap + (b >> 3);
    const bit: u32 = (1 as u32) << (b & 7);
    const goesOn = (load<u8>(joined + (b >> 3)) & bit) != 0;
    if ((load<u8>(byte) & bit) != 0) on = goesOn;
    else if (on) {
      store<u8>(byte, load<u8>(byte) | bit);
      on = goesOn && (load<u8>(starts + (b >> 3)) & bit) == 0;
    }
  }
}

/** Sets the bit of every block of [text, end) without a line break: only through such a block can a line go from the one before into the one after. */
export function markUnbroken(text: usize, end: usize, blockShift: u32, bitmap: usize): void {
  const blockBytes: usize = (1 as usize) << blockShift;
  let b: u32 = 0;
  for (let block = text; block < end; block += blockBytes, b += 1) {
    const stop = min(end, block + blockBytes);
    if (indexOf(block, stop, 10) != stop) continue;
    const byte = bitmap + (b >> 3);
    store<u8>(byte, load<u8>(byte) | ((1 as u32) << (b & 7)));
  }
}

/**
 * Spreads every bit over the blocks that a line of its block can reach: to each side the next block that the document goes on into, and beyond it while blocks have no line break.
 * Without `unbroken` (0) not beyond it.
 */
export function spreadLines(bitmap: usize, joined: usize, unbroken: usize, blocks: u32): void {
  let on = false;
  for (let b: u32 = 0; b < blocks; b += 1) {
    const byte = bitmap + (b >> 3);
    // Most have few: eight of them are passed over at a time.
    if (!on && (b & 7) == 0 && load<u8>(byte) == 0) {
      b += 7;
      continue;
    }
    const bit: u32 = (1 as u32) << (b & 7);
    if ((load<u8>(byte) & bit) != 0) on = true;
    else if (on) {
      on = (load<u8>(joined + (b >> 3)) & bit) != 0;
      if (on) {
        store<u8>(byte, load<u8>(byte) | bit);
        on = unbroken != 0 && (load<u8>(unbroken + (b >> 3)) & bit) != 0;
      }
    }
  }
  on = false;
  for (let b: i32 = (blocks as i32) - 1; b >= 0; b -= 1) {
    const byte = bitmap + (b >> 3);
    if (!on && (b & 7) == 7 && load<u8>(byte) == 0) {
      b -= 7;
      continue;
    }
    const bit: u32 = (1 as u32) << (b & 7);
    const goesOn = (load<u8>(joined + (b >> 3)) & bit) != 0;
    if ((load<u8>(byte) & bit) != 0) on = goesOn;
    else if (on) {
      store<u8>(byte, load<u8>(byte) | bit);
      on = goesOn && unbroken != 0 && (load<u8>(unbroken + (b >> 3)) & bit) != 0;
    }
  }
}

/** The first set bit at or after `from`, or 4096. */
export function nextBit(bitmap: usize, from: u32): u32 {
  let word = from >> 6;
  if (word >= 64) return 4096;
  let bits = load<u64>(bitmap + (word << 3)) & (~(0 as u64) << ((from & 63) as u64));
  while (bits == 0) {
    word += 1;
    if (word >= 64) return 4096;
    bits = load<u64>(bitmap + (word << 3));
  }
  return (word << 6) + (ctz(bits) as u32);
}

/** The first clear bit at or after `from`, or 4096. */
export function nextClear(bitmap: usize, from: u32): u32 {
  let word = from >> 6;
  if (word >= 64) return 4096;
  let bits = ~load<u64>(bitmap + (word << 3)) & (~(0 as u64) << ((from & 63) as u64));
  while (bits == 0) {
    word += 1;
    if (word >= 64) return 4096;
    bits = ~load<u64>(bitmap + (word << 3));
  }
  return (word << 6) + (ctz(bits) as u32);
}
