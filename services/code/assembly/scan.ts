/**
 * Runs a lazy DFA over documents and writes every match, leftmost first, each after the one before. The tables are made by the caller, row by row, when `scan`
 * asks: a row is 257 entries of u32 (one per byte, then one for the end of the text) at an address divisible by 64; an entry is the address of the next row plus flags.
 * After its entries a row may say which few bytes leave it: whether those that stay match, whether those beyond ASCII leave, whether nothing has begun to match in it, and for each
 * half of a byte, as bits, the others that leave.
 * A match flag on an entry says that a match ended just before the byte that was read. A forward automaton finds where the leftmost match ends, a backward one where it starts.
 *
 * `scan` returns DONE, NEED (one entry is missing: `state` and `symbol` say which), FULL (take the output and call again) or PAUSE (the fuel is used up). It goes on where
 * it stopped. With a substring that every match has, and a limit on how far a match reaches around it, only what lies near that substring is read, however long the line.
 */
import { lineEndAt } from "./blocks";
import { afterLast, find, indexOf } from "./bytes";

const MATCH: u32 = 1;
const DEAD: u32 = 2;
const UNKNOWN: u32 = 4;
const SKIPS: u32 = 8;
const FLAGS: u32 = 63;
const END_OF_TEXT: u32 = 256;

/** Where a row says by which bytes it is left. */
const SKIP_AT: usize = 1028;

const DONE: u32 = 0;
const NEED: u32 = 1;
const FULL: u32 = 2;
const PAUSE: u32 = 3;

const SEEK: u32 = 0;
const START: u32 = 1;
const FORWARD: u32 = 2;
const BACKWARD: u32 = 3;
const EMIT: u32 = 4;
const STOP: u32 = 5;

const UNBOUNDED: u32 = 0xffffffff;
/** Where only the first match of a line is wanted, one that is longer may be cut where it could have ended too: lines of megabytes are not read to their end. */
const LONG_MATCH: usize = 4096;
/** Bytes that `skim` reads of each part in one call: less than a millisecond's worth, and a few when the table does not fit the processor's caches. */
const SKIM_FUEL: usize = 131072;

/** All fields are u32 at `context`, in this order; the TypeScript side has the same list. */
@unmanaged
class Context {
  phase: u32;
  at: u32;
  state: u32;
  symbol: u32;
  lastEnd: u32;
  best: u32;
  scanStart: u32;
  /** Nothing is read from here on: the end of the line when there is a substring to look for, else of the region. 0 before the first line. */
  scanEnd: u32;
  /** The substring is looked for up to here, which may be in the middle of a line. */
  regionEnd: u32;
  docStart: u32;
  docEnd: u32;
  out: u32;
  outEnd: u32;
  previousEnd: u32;
  kinds: u32;
  /** 0 when there is no substring that every match's line must have. */
  needleLength: u32;
  needle: u32;
  mask: u32;
  rareA: u32;
  rareB: u32;
  forward0: u32;
  forward1: u32;
  forward2: u32;
  forward3: u32;
  backward0: u32;
  backward1: u32;
  backward2: u32;
  backward3: u32;
  /** How many bytes of a match can lie before and after the substring, at most. */
  before: u32;
  after: u32;
  /** Where the substring was found, and from where to look for it again. */
  hit: u32;
  seekFrom: u32;
  /** While nothing matched, what lies from here on cannot belong to a match with the substring at `hit`. */
  softEnd: u32;
  /** Not 0: of each line only the first match. */
  firstOfLine: u32;
  /** How many more bytes may be read before whoever called is asked whether to go on. */
  fuel: u32;
  /** Where blocks are, to pass over those without a line break. */
  blocks: u32;
  rareC: u32;
  /** The most bytes that a match can have; 0 when that is not known, or too many to matter. */
  longest: u32;
}

export function scan(context: usize): u32 {
  const c = changetype<Context>(context);
  const kinds: usize = c.kinds;
  let phase = c.phase;
  let at: usize = c.at;
  while (true) {
    if (phase == SEEK) {
      if (at >= c.regionEnd && !(at == c.docEnd && c.needleLength == 0)) return DONE;
      if (c.needleLength != 0) {
        const hit = seek(c, max(at, c.seekFrom as usize));
        if (hit >= c.regionEnd) return DONE;
        // A match that holds this place starts in its line, and not long before it.
        at = afterLast(c.before == UNBOUNDED || hit - at < c.before ? at : hit - c.before, hit, 10);
        if (hit >= c.scanEnd) {
          const lineEnd = lineEndAt(c.blocks, hit + c.needleLength, c.docEnd);
          c.scanEnd = (lineEnd < c.docEnd ? lineEnd + 1 : c.docEnd) as u32;
        }
        aim(c, hit);
      } else {
        c.scanEnd = c.regionEnd;
        c.softEnd = c.regionEnd;
      }
      phase = START;
    }
    if (phase == START) {
      c.state = startState(c, at);
      c.lastEnd = 0;
      c.scanStart = at as u32;
      phase = FORWARD;
    }
    if (phase == FORWARD) {
      let state: usize = c.state;
      let lastEnd = c.lastEnd;
      let next: u32 = 0;
      let status = DONE;
      let rests = false;
      while (true) {
        let end: usize = lastEnd == 0 ? c.softEnd : lastStop(c, at);
        const from = at;
        let stop = min(end, at + c.fuel);
        next = 0;
        while (at < stop) {
          next = load<u32>(state + ((load<u8>(at) as usize) << 2));
          // Most transitions have no flags; this loop is all that runs for them.
          while ((next & FLAGS) == 0 && at + 1 < stop) {
            state = next;
            at += 1;
            next = load<u32>(state + ((load<u8>(at) as usize) << 2));
          }
          if (next & UNKNOWN) break;
          if (next & MATCH) {
            if (lastEnd == 0 && c.firstOfLine != 0) {
              end = lastStop(c, at + 1);
              stop = min(end, from + c.fuel);
            }
            lastEnd = at as u32;
          }
          if (next & DEAD) break;
          state = next & ~FLAGS;
          at += 1;
          // Nothing has begun here, and the substring that was found lies behind: the next one is where to go on.
          if ((next & SKIPS) != 0 && lastEnd == 0 && c.needleLength != 0) {
            if (at > c.hit && load<u8>(state, SKIP_AT + 2) != 0) {
              rests = true;
              break;
            }
          }
          // Where matches end on the way, one has to be known before others are passed over.
          if ((next & SKIPS) != 0 && (lastEnd != 0 || load<u8>(state, SKIP_AT) == 0)) {
            const left = skip(state, at, stop);
            if (left != at && load<u8>(state, SKIP_AT) != 0) lastEnd = (left - 1) as u32;
            at = left;
          }
        }
        c.fuel -= (at - from) as u32;
        if (rests) break;
        if (at < stop) {
          if (next & UNKNOWN) {
            c.symbol = load<u8>(at);
            status = NEED;
          }
          break;
        }
        if (stop < end) {
          status = PAUSE;
          break;
        }
        // A match was found where the substring's reach ends: how far it goes is another question.
        if (lastEnd != 0 && c.firstOfLine == 0 && end < c.scanEnd) continue;
        if (at == c.docEnd) {
          next = load<u32>(state + 1024);
          if (next & UNKNOWN) {
            c.symbol = END_OF_TEXT;
            status = NEED;
          } else if (next & MATCH) lastEnd = at as u32;
          break;
        }
        if (lastEnd != 0 || at == c.scanEnd) break;
        // Nothing with the substring at `hit`. When the next one is near, what was read so far may belong to it.
        const hit = seek(c, (c.hit as usize) + 1);
        if (
          hit >= c.regionEnd ||
          hit >= c.scanEnd ||
          (c.before != UNBOUNDED && hit - at > c.before && hit > at)
        ) {
          c.seekFrom = hit as u32;
          break;
        }
        aim(c, hit);
      }
      c.lastEnd = lastEnd;
      if (status != DONE) {
        c.state = state as u32;
        c.at = at as u32;
        c.phase = FORWARD;
        return status;
      }
      if (lastEnd == 0) {
        if (c.needleLength == 0 || (next & DEAD) != 0) at = c.scanEnd;
        // Without a substring to look for there is nothing more in this region.
        if (c.needleLength == 0 || at >= c.regionEnd) {
          c.at = at as u32;
          return DONE;
        }
        phase = SEEK;
        continue;
      }
      at = lastEnd;
      const kind: usize = at == c.docEnd ? 0 : load<u8>(kinds + load<u8>(at));
      c.state = load<u32>(context + offsetof<Context>("backward0") + (kind << 2));
      c.best = lastEnd;
      phase = BACKWARD;
    }
    if (phase == BACKWARD) {
      let state: usize = c.state;
      const start: usize = c.scanStart;
      let next: u32 = 0;
      let status = DONE;
      const from = at;
      while (true) {
        if (from - at >= c.fuel) {
          status = PAUSE;
          break;
        }
        const symbol: u32 = at == c.docStart ? END_OF_TEXT : load<u8>(at - 1);
        next = load<u32>(state + ((symbol as usize) << 2));
        if (next & UNKNOWN) {
          c.symbol = symbol;
          status = NEED;
          break;
        }
        if (next & MATCH) c.best = at as u32;
        if ((next & DEAD) != 0 || at == start) break;
        state = next & ~FLAGS;
        at -= 1;
      }
      c.fuel -= (from - at) as u32;
      if (status != DONE) {
        c.state = state as u32;
        c.at = at as u32;
        c.phase = BACKWARD;
        return status;
      }
      phase = EMIT;
    }
    const best: usize = c.best;
    const matchEnd: usize = c.lastEnd;
    // An empty match right after another, or inside a character, is none.
    const inside =
      matchEnd < c.docEnd &&
      (load<u8>(matchEnd) & 0xc0) == 0x80 &&
      matchEnd > c.docStart &&
      load<u8>(matchEnd - 1) >= 0x80;
    if (best != matchEnd || (matchEnd != c.previousEnd && !inside)) {
      if (c.out + 8 > c.outEnd) {
        c.phase = EMIT;
        return FULL;
      }
      store<u32>(c.out, best as u32);
      store<u32>(c.out, matchEnd as u32, 4);
      c.out += 8;
      c.previousEnd = matchEnd as u32;
      if (c.firstOfLine != 0) {
        if (c.needleLength != 0) at = c.scanEnd;
        else {
          const lineEnd = lineEndAt(c.blocks, matchEnd, c.docEnd);
          if (lineEnd == c.docEnd) return DONE;
          at = lineEnd + 1;
        }
        phase = phaseAfter(c, at);
        if (phase == STOP) {
          c.at = at as u32;
          return DONE;
        }
        continue;
      }
    }
    at = matchEnd;
    if (best == matchEnd) {
      // After an empty match the next one starts one character on.
      at += 1;
      while (at < c.docEnd && (load<u8>(at) & 0xc0) == 0x80) at += 1;
    }
    phase = phaseAfter(c, at);
    if (phase == STOP) {
      c.at = at as u32;
      return DONE;
    }
  }
  return DONE;
}

/** The first of 16 bytes or more in [at, stop) by which a state is left that most bytes lead back to, or where fewer remain. */
function skip(state: usize, at: usize, stop: usize): usize {
  const low = v128.load(state + SKIP_AT + 4);
  const high = v128.load(state + SKIP_AT + 20);
  const beyond = i8x16.splat(load<i8>(state, SKIP_AT + 1));
  const half = i8x16.splat(15);
  while (at + 16 <= stop) {
    const bytes = v128.load(at);
    const leaves = v128.or(
      v128.and(i8x16.swizzle(low, v128.and(bytes, half)), i8x16.swizzle(high, i8x16.shr_u(bytes, 4))),
      v128.and(bytes, beyond),
    );
    if (v128.any_true(leaves)) {
      const stays = i8x16.bitmask(i8x16.eq(leaves, i8x16.splat(0))) as u32;
      return at + (ctz(~stays) as usize);
    }
    at += 16;
  }
  return at;
}

/** What to do at `at`, after a match before it. */
function phaseAfter(c: Context, at: usize): u32 {
  if (at > c.scanEnd || (at == c.scanEnd && at != c.docEnd))
    return c.needleLength == 0 || at >= c.regionEnd ? STOP : SEEK;
  // With a substring to look for, its place in the rest of the line comes first.
  if (c.needleLength != 0) {
    c.seekFrom = at as u32;
    return at >= c.regionEnd ? STOP : SEEK;
  }
  return START;
}

/** The state to start in, by what lies before. */
function startState(c: Context, at: usize): u32 {
  const kind: usize = at == c.docStart ? 0 : load<u8>((c.kinds as usize) + load<u8>(at - 1));
  return load<u32>(changetype<usize>(c) + offsetof<Context>("forward0") + (kind << 2));
}

/** How far the match that was found may go. */
function lastStop(c: Context, at: usize): usize {
  if (c.firstOfLine == 0) return c.scanEnd;
  return min(c.scanEnd as usize, max(at, (c.scanStart as usize) + LONG_MATCH));
}

function seek(c: Context, from: usize): usize {
  return find(from, c.regionEnd, c.needle, c.mask, c.needleLength, c.rareA, c.rareB, c.rareC);
}

/** Remembers where the substring is, and how far a match with it can reach: one byte more is read, to see what comes after. */
function aim(c: Context, hit: usize): void {
  c.hit = hit as u32;
  const room = c.scanEnd - hit;
  c.softEnd =
    c.after == UNBOUNDED || room <= c.needleLength + c.after
      ? c.scanEnd
      : ((hit + c.needleLength + c.after + 1) as u32);
}

/**
 * Whether a region of whole lines has anything worth a closer look, for expressions that stay within lines: four parts of it are read side by side, so that
 * the processor need not wait for one table entry before it asks for another. `pieces` are four times (at, end, state) as u32, made by `skimStart`. Returns DONE when nothing matches,
 * NEED and PAUSE as `scan` does, FULL when something does.
 */
export function skim(context: usize, pieces: usize): u32 {
  const c = changetype<Context>(context);
  let p0: usize = load<u32>(pieces);
  let p1: usize = load<u32>(pieces, 12);
  let p2: usize = load<u32>(pieces, 24);
  let p3: usize = load<u32>(pieces, 36);
  const e0: usize = load<u32>(pieces, 4);
  const e1: usize = load<u32>(pieces, 16);
  const e2: usize = load<u32>(pieces, 28);
  const e3: usize = load<u32>(pieces, 40);
  let s0: usize = load<u32>(pieces, 8);
  let s1: usize = load<u32>(pieces, 20);
  let s2: usize = load<u32>(pieces, 32);
  let s3: usize = load<u32>(pieces, 44);
  let left = min(min(e0 - p0, e1 - p1), min(e2 - p2, e3 - p3));
  const rest = left > SKIM_FUEL ? left - SKIM_FUEL : 0;
  left -= rest;
  while (left > 0) {
    const n0 = load<u32>(s0 + ((load<u8>(p0) as usize) << 2));
    const n1 = load<u32>(s1 + ((load<u8>(p1) as usize) << 2));
    const n2 = load<u32>(s2 + ((load<u8>(p2) as usize) << 2));
    const n3 = load<u32>(s3 + ((load<u8>(p3) as usize) << 2));
    if ((n0 | n1 | n2 | n3) & FLAGS) break;
    s0 = n0;
    s1 = n1;
    s2 = n2;
    s3 = n3;
    p0 += 1;
    p1 += 1;
    p2 += 1;
    p3 += 1;
    left -= 1;
  }
  keep(pieces, p0, s0);
  keep(pieces + 12, p1, s1);
  keep(pieces + 24, p2, s2);
  keep(pieces + 36, p3, s3);
  if (left == 0 && rest != 0) return PAUSE;
  for (let piece = pieces; piece < pieces + 48; piece += 12) {
    let at: usize = load<u32>(piece);
    let state: usize = load<u32>(piece, 8);
    // With all four still going, only the byte that stopped them is looked at; then they go on together.
    const end: usize = min(load<u32>(piece, 4) as usize, at + (left > 0 ? 1 : SKIM_FUEL));
    while (at < end) {
      const next = load<u32>(state + ((load<u8>(at) as usize) << 2));
      if (next & FLAGS) {
        if ((next & UNKNOWN) == 0) return FULL;
        keep(piece, at, state);
        c.state = state as u32;
        c.symbol = load<u8>(at);
        return NEED;
      }
      state = next;
      at += 1;
    }
    keep(piece, at, state);
    if (left == 0 && end < load<u32>(piece, 4)) return PAUSE;
    // A piece that never had anything has no state.
    if (left == 0 && end == c.docEnd && state != 0) {
      const next = load<u32>(state, 1024);
      if (next & UNKNOWN) {
        c.state = state as u32;
        c.symbol = END_OF_TEXT;
        return NEED;
      }
      if (next & MATCH) return FULL;
    }
  }
  return DONE;
}

function keep(piece: usize, at: usize, state: usize): void {
  store<u32>(piece, at as u32);
  store<u32>(piece, state as u32, 8);
}

/**
 * Cuts [from, to) into four parts of about the same length, each from a line's start. A line may be long: where no match is longer than `longest`, it is cut anywhere, and
 * each part goes on for so much into the next.
 */
export function skimStart(context: usize, pieces: usize, from: usize, to: usize): void {
  const c = changetype<Context>(context);
  let at = from;
  for (let i: usize = 0; i < 4; i += 1) {
    let end = to;
    let next = to;
    if (i < 3) {
      const wanted = max(at, from + (((to - from) * (i + 1)) >> 2));
      const near = c.longest == 0 ? to : min(to, wanted + c.longest);
      end = indexOf(wanted, near, 10);
      if (end < near) next = end = end + 1;
      else if (near < to) {
        next = wanted;
        // One byte more is read, to see what comes after.
        end = near + 1;
      }
    }
    store<u32>(pieces, at as u32);
    store<u32>(pieces, end as u32, 4);
    store<u32>(pieces, at == end ? 0 : startState(c, at), 8);
    at = next;
    pieces += 12;
  }
}
