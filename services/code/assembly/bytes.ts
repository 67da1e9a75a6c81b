/**
 * Finding bytes: one substring, with or without ASCII case, and lines around it. A needle is two arrays of equal length: its bytes, in lower case where case does
 * not count, and a mask with 0x20 where it does not count and 0 where it does. A byte b matches at i when (b | mask[i]) equals needle[i].
 */

/** The first match that starts in [from, to - n], or `to`. `rareA` and `rareB` are the two offsets in the needle worth looking for first, `rareC` one worth a look before the whole is compared. */
export function find(
  from: usize,
  to: usize,
  needle: usize,
  mask: usize,
  n: u32,
  rareA: u32,
  rareB: u32,
  rareC: u32,
): usize {
  if (from + n > to) return to;
  const last: usize = to - n;
  const a = i8x16.splat(load<u8>(needle + rareA) as i8);
  const b = i8x16.splat(load<u8>(needle + rareB) as i8);
  const am = i8x16.splat(load<u8>(mask + rareA) as i8);
  const bm = i8x16.splat(load<u8>(mask + rareB) as i8);
  const c = i8x16.splat(load<u8>(needle + rareC) as i8);
  const cm = i8x16.splat(load<u8>(mask + rareC) as i8);
  let at = from;
  while (at + 15 <= last) {
    const va = v128.or(v128.load(at + rareA), am);
    const vb = v128.or(v128.load(at + rareB), bm);
    const hit = v128.and(i8x16.eq(va, a), i8x16.eq(vb, b));
    if (v128.any_true(hit)) {
      const vc = v128.or(v128.load(at + rareC), cm);
      let bits = i8x16.bitmask(v128.and(hit, i8x16.eq(vc, c))) as u32;
      while (bits != 0) {
        const candidate = at + (ctz(bits) as usize);
        if (equal(candidate, needle, mask, n)) return candidate;
        bits &= bits - 1;
      }
    }
    at += 16;
  }
  while (at <= last) {
    if (equal(at, needle, mask, n)) return at;
    at += 1;
  }
  return to;
}

function equal(at: usize, needle: usize, mask: usize, n: u32): bool {
  let i: u32 = 0;
  for (; i + 8 <= n; i += 8) {
    if ((load<u64>(at + i) | load<u64>(mask + i)) != load<u64>(needle + i)) return false;
  }
  for (; i < n; i += 1) {
    if ((load<u8>(at + i) | load<u8>(mask + i)) != load<u8>(needle + i)) return false;
  }
  return true;
}

/** The first byte equal to `byte` in [from, to), or `to`. */
export function indexOf(from: usize, to: usize, byte: u8): usize {
  const wanted = i8x16.splat(byte as i8);
  let at = from;
  while (at + 16 <= to) {
    const hit = i8x16.eq(v128.load(at), wanted);
    if (v128.any_true(hit)) return at + (ctz(i8x16.bitmask(hit)) as usize);
    at += 16;
  }
  while (at < to) {
    if (load<u8>(at) == byte) return at;
    at += 1;
  }
  return to;
}

/** One past the last byte equal to `byte` in [from, to), or `from`. */
export function afterLast(from: usize, to: usize, byte: u8): usize {
  const wanted = i8x16.splat(byte as i8);
  let at = to;
  while (at >= from + 16) {
    const hit = i8x16.eq(v128.load(at - 16), wanted);
    if (v128.any_true(hit)) return at - (clz((i8x16.bitmask(hit) as u32) << 16) as usize);
    at -= 16;
  }
  while (at > from) {
    if (load<u8>(at - 1) == byte) return at;
    at -= 1;
  }
  return from;
}

/** How often `byte` is in [from, to). */
export function count(from: usize, to: usize, byte: u8): u32 {
  const wanted = i8x16.splat(byte as i8);
  let total: u32 = 0;
  let at = from;
  while (at + 16 <= to) {
    let sums = i8x16.splat(0);
    const stop = min(to, at + 16 * 255);
    while (at + 16 <= stop) {
      sums = i8x16.sub(sums, i8x16.eq(v128.load(at), wanted));
      at += 16;
    }
    const pairs = i16x8.extadd_pairwise_i8x16_u(sums);
    const quads = i32x4.extadd_pairwise_i16x8_u(pairs);
    total += (i32x4.extract_lane(quads, 0) +
      i32x4.extract_lane(quads, 1) +
      i32x4.extract_lane(quads, 2) +
      i32x4.extract_lane(quads, 3)) as u32;
  }
  while (at < to) {
    total += (load<u8>(at) == byte) as u32;
    at += 1;
  }
  return total;
}

/** A 64-bit hash of [from, to) in the manner of xxHash: a checksum against flipped bits and lost writes, not against malice. */
export function hash(from: usize, to: usize): u64 {
  const p1: u64 = 0x9e3779b185ebca87;
  const p2: u64 = 0xc2b2ae3d27d4eb4f;
  let a: u64 = p1 + p2;
  let b: u64 = p2;
  let c: u64 = 0;
  let d: u64 = 0 - p1;
  let at = from;
  while (at + 32 <= to) {
    a = rotl<u64>(a + load<u64>(at) * p2, 31) * p1;
    b = rotl<u64>(b + load<u64>(at, 8) * p2, 31) * p1;
    c = rotl<u64>(c + load<u64>(at, 16) * p2, 31) * p1;
    d = rotl<u64>(d + load<u64>(at, 24) * p2, 31) * p1;
    at += 32;
  }
  let h = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18) + ((to - from) as u64);
  while (at < to) {
    h = rotl<u64>(h ^ ((load<u8>(at) as u64) * p2), 11) * p1;
    at += 1;
  }
  h ^= h >> 33;
  h *= p2;
  h ^= h >> 29;
  return h;
}
