/** Which two bytes of a needle to look for first: those that source code has least of. */
import { frequency } from "../regex/byte-frequency.ts";
import type { Literal } from "../regex/literal.ts";

type Needle = Pick<Literal, "bytes" | "mask">;

/** Offsets of the two rarest, in rising order; equal only for a needle of one byte. */
export function rarestTwo(needle: Needle): readonly [number, number] {
  const shares = sharesOf(needle);
  const [best = 0, second = best] = Array.from(shares.keys()).sort(
    (a, b) => shares[a]! - shares[b]! || a - b,
  );
  return best < second ? [best, second] : [second, best];
}

/** About how many places of a text look like the needle at its two rarest bytes, of all places. */
export function rarity(needle: Needle): number {
  const [a = 1, b = 1] = sharesOf(needle).toSorted((x, y) => x - y);
  return a * b;
}

function sharesOf({ bytes, mask }: Needle): number[] {
  return Array.from(bytes, (byte, at) => frequency(byte, mask[at]!));
}
