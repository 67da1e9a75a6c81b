import type { Random } from "@keelson/kernel";

/**
 * The one source of chance in a run: a seed, split into named streams. Each name has a generator of its own, so that one more draw
 * in one place (say, the network) does not shift what another place (say, the faults) draws.
 */
export class Streams {
  readonly seed: number;
  readonly #path: string;

  constructor(seed: number, path = "") {
    this.seed = seed;
    this.#path = path;
  }

  /** The generator of that name, from its beginning. The same seed and name always give the same numbers. */
  stream(name: string): Random {
    return generator(this.seed, `${this.#path}${name}`);
  }

  /** Streams whose names all begin with `name/`. */
  within(name: string): Streams {
    return new Streams(this.seed, `${this.#path}${name}/`);
  }
}

/** sfc32: fast, 128 bits of state, and passes PractRand; seeded by hashing the seed with the name. */
function generator(seed: number, name: string): Random {
  let a = hash(`${seed}:${name}`, 0x9e3779b9);
  let b = hash(`${seed}:${name}`, 0x243f6a88);
  let c = hash(`${seed}:${name}`, 0xb7e15162);
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 4294967296;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

/** FNV-1a with a final mix. */
function hash(text: string, basis: number): number {
  let h = basis;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
