/** Pages in memory, for tests and simulations. Several openers share one place; the last one fences the others, as a real store would. */
import type { PageBatch, PageEntry, Pages, ScanOptions } from "./pages.ts";

export class MemoryPagesPlace {
  readonly values = new Map<string, Uint8Array>();
  #opener = 0;

  open(): Pages {
    this.#opener += 1;
    return new MemoryPages(this, this.#opener);
  }

  isOpener(opener: number): boolean {
    return this.#opener === opener;
  }
}

class MemoryPages implements Pages {
  readonly #place: MemoryPagesPlace;
  readonly #opener: number;
  #closed = false;

  constructor(place: MemoryPagesPlace, opener: number) {
    this.#place = place;
    this.#opener = opener;
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#place.values.get(key));
  }

  scan(prefix: string, { after, limit }: ScanOptions): Promise<readonly PageEntry[]> {
    const keys = [...this.#place.values.keys()].filter(
      (key) => key.startsWith(prefix) && (after === undefined || key > after),
    );
    const entries = keys
      .sort()
      .slice(0, limit)
      .map((key) => ({ key, value: this.#place.values.get(key) as Uint8Array }));
    return Promise.resolve(entries);
  }

  write({ put, delete: keys }: PageBatch): Promise<void> {
    if (this.#closed || !this.#place.isOpener(this.#opener))
      return Promise.reject(new Error("these pages were opened by somebody else"));
    for (const { key, value } of put) this.#place.values.set(key, Uint8Array.from(value));
    for (const key of keys) this.#place.values.delete(key);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }
}
