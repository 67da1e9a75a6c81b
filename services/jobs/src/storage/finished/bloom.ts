/**
 * Says "certainly not" or "perhaps" of a key, at 24 bits a key and one wrong "perhaps" in 20,000: a shard has dozens of runs, all are asked about every new job, and
 * a wrong one costs the reading of a page.
 */

const BITS_PER_KEY = 24;
const PROBES = 8;

/** What every filter needs to know of a key; hashing costs more than asking. */
export class KeyHash {
  readonly first: number;
  readonly step: number;

  constructor(key: string) {
    this.first = hash(key, 0x811c9dc5);
    this.step = hash(key, 0x9e3779b9) | 1;
  }
}

export class Bloom {
  readonly bits: Uint8Array;

  constructor(bits: Uint8Array) {
    this.bits = bits;
  }

  static forKeys(count: number): Bloom {
    return new Bloom(new Uint8Array(Math.max(8, Math.ceil((count * BITS_PER_KEY) / 8))));
  }

  add({ first, step }: KeyHash): void {
    const { bits } = this;
    const size = bits.length * 8;
    for (let probe = 0, at = first; probe < PROBES; probe++, at = (at + step) >>> 0) {
      const bit = at % size;
      bits[bit >>> 3] = (bits[bit >>> 3] as number) | (1 << (bit & 7));
    }
  }

  has({ first, step }: KeyHash): boolean {
    const { bits } = this;
    const size = bits.length * 8;
    for (let probe = 0, at = first; probe < PROBES; probe++, at = (at + step) >>> 0) {
      const bit = at % size;
      if (((bits[bit >>> 3] as number) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }
}

/** FNV-1a over code units, then mixed, because its low bits alone are poor. */
function hash(key: string, seed: number): number {
  let value = seed;
  for (let i = 0; i < key.length; i++) value = Math.imul(value ^ key.charCodeAt(i), 0x01000193);
  value ^= value >>> 16;
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
