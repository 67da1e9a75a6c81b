/** Says "certainly not" or "perhaps" of a key, at sixteen bits a key and one wrong "perhaps" in two thousand: a shard has dozens of runs, and all are asked. */

const BITS_PER_KEY = 16;
const PROBES = 8;

export class Bloom {
  readonly bits: Uint8Array;

  constructor(bits: Uint8Array) {
    this.bits = bits;
  }

  static forKeys(count: number): Bloom {
    return new Bloom(new Uint8Array(Math.max(8, Math.ceil((count * BITS_PER_KEY) / 8))));
  }

  add(key: string): void {
    const size = this.bits.length * 8;
    let at = hash(key, 0x811c9dc5);
    const step = hash(key, 0x9e3779b9) | 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = at % size;
      this.bits[bit >>> 3] = (this.bits[bit >>> 3] as number) | (1 << (bit & 7));
      at = (at + step) >>> 0;
    }
  }

  has(key: string): boolean {
    const size = this.bits.length * 8;
    let at = hash(key, 0x811c9dc5);
    const step = hash(key, 0x9e3779b9) | 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = at % size;
      if (((this.bits[bit >>> 3] as number) & (1 << (bit & 7))) === 0) return false;
      at = (at + step) >>> 0;
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
