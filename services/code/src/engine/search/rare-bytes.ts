/** Which two bytes of a needle to look for first: those that source code has least of. */

import { ANY_BYTE, type Literal } from "../regex/literal.ts";

/** From common to rare, as counted over source code; what is missing is rarer still. */
const common =
  " etnraiosldcpumf_hg\n;),(.y=v\"b0-*/1xw>k:{}'2<#+I3ESTA[]CRNq4D5L8P6O7j&9MFB\\z|UG$X@!HVWY`?K%~^QJZ";
const ranks = new Uint8Array(256).fill(255);
for (const [rank, char] of Array.from(common).entries()) ranks[char.charCodeAt(0)] = rank;

/** Offsets of the two rarest, in rising order, where the mask does not let any byte stand; equal only for a needle with one such place. */
export function rarestTwo({ bytes, mask }: Pick<Literal, "bytes" | "mask">): readonly [number, number] {
  const places = Array.from(bytes.keys())
    .filter((at) => mask[at] !== ANY_BYTE)
    .sort((a, b) => ranks[bytes[b]!]! - ranks[bytes[a]!]! || a - b);
  const [best = 0, second = best] = places;
  return best < second ? [best, second] : [second, best];
}
