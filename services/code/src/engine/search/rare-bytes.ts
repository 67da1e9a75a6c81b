/** Which two bytes of a needle to look for first: those that source code has least of. */

/** From common to rare, as counted over source code; what is missing is rarer still. */
const common =
  " etnraiosldcpumf_hg\n;),(.y=v\"b0-*/1xw>k:{}'2<#+I3ESTA[]CRNq4D5L8P6O7j&9MFB\\z|UG$X@!HVWY`?K%~^QJZ";
const ranks = new Uint8Array(256).fill(255);
for (const [rank, char] of Array.from(common).entries()) ranks[char.charCodeAt(0)] = rank;

/** Offsets of the two rarest, in rising order; equal only for a needle of one byte. */
export function rarestTwo(needle: Uint8Array): readonly [number, number] {
  let best = 0;
  for (let i = 1; i < needle.length; i += 1) if (ranks[needle[i]!]! > ranks[needle[best]!]!) best = i;
  let second = best === 0 ? Math.min(1, needle.length - 1) : 0;
  for (let i = 0; i < needle.length; i += 1) {
    if (i !== best && (second === best || ranks[needle[i]!]! > ranks[needle[second]!]!)) second = i;
  }
  return best < second ? [best, second] : [second, best];
}
