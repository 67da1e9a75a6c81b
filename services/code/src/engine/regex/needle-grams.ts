/** The grams of a substring of which some bits may not count: those of three bytes whose classes are certain. A block without one of them has no such substring. */
import { byteClasses, gramOf } from "../kernels/byte-classes.ts";
import { frequency } from "./byte-frequency.ts";
import type { Literal } from "./literal.ts";

/** A substring of so many bytes has all its grams in the block that it starts in. */
const BYTES_MAX = 64;
/** Of many the rarest: these say almost as much as all of them. */
const GRAMS_MAX = 12;

export function needleGrams({ bytes, mask }: Literal): Uint32Array {
  const length = Math.min(bytes.length, BYTES_MAX);
  const classes = Array.from({ length }, (_, at) => classOf(bytes[at]!, mask[at]!));
  const share = (at: number): number => frequency(bytes[at]!, mask[at]!);
  const shares = new Map<number, number>();
  for (let at = 2; at < length; at += 1) {
    const [x, y, z] = [classes[at - 2], classes[at - 1], classes[at]];
    if (x === undefined || y === undefined || z === undefined) continue;
    shares.set(gramOf(x, y, z), share(at - 2) * share(at - 1) * share(at));
  }
  const rarest = [...shares].sort(([, a], [, b]) => a - b).slice(0, GRAMS_MAX);
  return Uint32Array.from(rarest, ([gram]) => gram);
}

/** The class of all bytes that look like this one; undefined when they have several. */
function classOf(byte: number, mask: number): number | undefined {
  let found: number | undefined;
  for (const [each, group] of byteClasses.entries()) {
    if ((each | mask) !== byte) continue;
    if (found !== undefined && found !== group) return undefined;
    found = group;
  }
  return found;
}
