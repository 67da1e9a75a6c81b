/** How often bytes are in source code, about: enough to say which of them are worth looking for. */

/** From common to rare, as counted over source code; what is missing is rarer still. */
const common =
  " etnraiosldcpum\tf_hg\n;),(.y=v\"b0-*/1xw>k:{}'2<#+I3ESTA[]CRNq4D5L8P6O7j&9MFB\\z|UG$X@!HVWY`?K%~^QJZ";
/** The share of the most common after the space, and by how many ranks it falls to a third. */
const SHARE = 0.07;
const RANKS = 14;
const SPACE_SHARE = 0.15;
/** All bytes beyond ASCII together are rare, and each of them more so. */
const RARE_SHARE = 0.0001;

const shares = new Float64Array(256).fill(RARE_SHARE);
for (const [rank, char] of Array.from(common).entries())
  shares[char.charCodeAt(0)] = rank === 0 ? SPACE_SHARE : SHARE * Math.exp(-rank / RANKS);

const masked = new Map<number, number>();

/** Of all bytes b, those with (b | mask) equal to `byte`. */
export function frequency(byte: number, mask: number): number {
  if (mask === 0) return shares[byte]!;
  const key = byte * 256 + mask;
  let sum = masked.get(key);
  if (sum === undefined) {
    sum = 0;
    for (const [each, share] of shares.entries()) if ((each | mask) === byte) sum += share;
    masked.set(key, sum);
  }
  return sum;
}

/** Of a set of bytes. */
export function frequencyOf(bytes: Iterable<number>): number {
  let sum = 0;
  for (const byte of bytes) sum += shares[byte]!;
  return sum;
}
