/** What each fact of the contract works with: keys of its own, and short words for the calls that facts are made of. */
import type { ObjectPage, Objects } from "../contract.ts";
import type { ObjectHarness } from "./harness.ts";

/** Generous: facts are about outcomes, and a busy machine must not fail them. */
const CALL = { timeoutMs: 15_000 } as const;

/** A part of the contract: facts by name. */
export interface Facts {
  readonly about: string;
  readonly facts: Readonly<Record<string, (scene: Scene) => Promise<void>>>;
}

export class Scene {
  readonly harness: ObjectHarness;
  /** Every key of this fact begins with it. */
  readonly prefix: string;
  readonly call = CALL;

  constructor(harness: ObjectHarness, prefix: string) {
    this.harness = harness;
    this.prefix = prefix;
  }

  get objects(): Objects {
    return this.harness.objects;
  }

  get second(): Objects {
    return this.harness.second;
  }

  key(name: string): string {
    return this.prefix + name;
  }

  put(name: string, text: string | Uint8Array = name, objects = this.objects): Promise<void> {
    return objects.put(this.key(name), Buffer.from(text), CALL);
  }

  async putIfAbsent(name: string, text: string, objects = this.objects): Promise<"created" | "exists"> {
    return (await objects.putIfAbsent(this.key(name), Buffer.from(text), CALL)).kind;
  }

  async text(name: string, objects = this.objects): Promise<string | undefined> {
    return (await objects.get(this.key(name), CALL))?.bytes.toString();
  }

  async range(name: string, offset: number, lengthBytes: number): Promise<string | undefined> {
    return (await this.objects.getRange(this.key(name), offset, lengthBytes, CALL))?.bytes.toString();
  }

  /** One page, its keys without the fact's prefix. */
  async page(prefix: string, options: { after?: string; limit?: number } = {}): Promise<[string[], boolean]> {
    const after = options.after === undefined ? undefined : this.key(options.after);
    const page = await this.objects.list(this.key(prefix), { ...CALL, limit: options.limit, after });
    return [this.names(page), page.more];
  }

  names(page: ObjectPage): string[] {
    return page.objects.map(({ key }) => key.slice(this.prefix.length));
  }

  /** All names that begin so, over as many pages as it takes. */
  async all(prefix: string, limit = 1000, objects = this.objects): Promise<string[]> {
    const names: string[] = [];
    for (let after: string | undefined; ; after = this.key(names.at(-1)!)) {
      // oxlint-disable-next-line no-await-in-loop -- the next page begins where this one ends.
      const page = await objects.list(this.key(prefix), { ...CALL, limit, after });
      names.push(...this.names(page));
      if (!page.more) return names;
    }
  }
}

/** `sizeBytes` bytes in which a block that is missing, doubled or moved shows. */
export function pattern(sizeBytes: number, seed = 1): Buffer {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4));
  let word = seed >>> 0;
  for (let at = 0; at < words.length; at += 1) {
    word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
    words[at] = word;
  }
  return Buffer.from(words.buffer, 0, sizeBytes);
}
