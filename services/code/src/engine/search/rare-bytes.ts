/** Which bytes of a needle to look for first: those that source code has least of. */
import { frequency } from "../regex/byte-frequency.ts";
import type { Literal } from "../regex/literal.ts";

type Needle = Pick<Literal, "bytes" | "mask">;

/** Offsets of the rarest, the next and a third, which are equal only in a shorter needle. */
export function rarest(needle: Needle): readonly [number, number, number] {
  const { bytes } = needle;
  const shares = sharesOf(needle);
  const order = Array.from(shares.keys()).sort((a, b) => shares[a]! - shares[b]! || a - b);
  const [first = 0, second = first] = order;
  // Brackets and commas come together, so two of them say little more than one: a letter or a digit does.
  const third = order.slice(2).find((at) => isWord(bytes[at]!)) ?? order[2] ?? second;
  return [first, second, third];
}

function isWord(byte: number): boolean {
  return /\w/.test(String.fromCharCode(byte & 0x7f));
}

/** About how many places of a text look like the needle at its two rarest bytes, of all places. */
export function rarity(needle: Needle): number {
  const [a = 1, b = 1] = sharesOf(needle).toSorted((x, y) => x - y);
  return a * b;
}

function sharesOf({ bytes, mask }: Needle): number[] {
  return Array.from(bytes, (byte, at) => frequency(byte, mask[at]!));
}
