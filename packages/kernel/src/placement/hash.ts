/**
 * The one hash that placements and turn-taking use. It is not for secrets and not for tables of untrusted keys: it is for answers that every
 * node must work out alike, so its values are frozen by a test, and changing it means a new algorithm version in every view.
 *
 * Two 32-bit lanes feed each other at every character, so no bit of one lane can be told from the other, and end in
 * MurmurHash3's finaliser. The result keeps 53 bits, the most that a number compares exactly.
 */

/** Hashes lie in [0, HASH_SPAN). */
export const HASH_SPAN = 2 ** 53;

/** A well-mixed whole number in [0, HASH_SPAN). Different seeds give unrelated hashes of the same text. */
export function hash(text: string, seed = 0): number {
  let a = finish(seed ^ 0x9e3779b9);
  let b = finish(seed ^ 0x7f4a7c15);
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x9e3779b1);
    a = (((a << 13) | (a >>> 19)) + b) | 0;
    b = Math.imul(b ^ c, 0x85ebca77);
    b = ((b << 17) | (b >>> 15)) ^ a;
  }
  a = finish(a ^ text.length ^ Math.imul(b, 0xc2b2ae3d));
  b = finish(b ^ a);
  return (b >>> 11) * 0x1_0000_0000 + (a >>> 0);
}

/** MurmurHash3's `fmix32`: every input bit changes every output bit with a chance near one half. */
function finish(lane: number): number {
  lane = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  lane = Math.imul(lane ^ (lane >>> 13), 0xc2b2ae35);
  return lane ^ (lane >>> 16);
}
