/** Pages that one question has read lately, taken apart: what it looks up one after the other often lies in few of them. It lives as long as the question. */
import type { Entry } from "./section.ts";

/** Each takes a few hundred kilobytes. */
const PAGES_MAX = 32;

export class PageCache {
  /** By key, the one that was used longest ago first. */
  readonly #pages = new Map<string, ReadonlyMap<string, Entry>>();
  /** Pages that had to be read. */
  reads = 0;

  async find(page: string, key: string, read: () => Promise<readonly Entry[]>): Promise<Entry | undefined> {
    let entries = this.#pages.get(page);
    if (entries === undefined) {
      this.reads += 1;
      entries = new Map((await read()).map((entry) => [entry.key, entry]));
      const [oldest] = this.#pages.keys();
      if (this.#pages.size >= PAGES_MAX && oldest !== undefined) this.#pages.delete(oldest);
    } else this.#pages.delete(page);
    this.#pages.set(page, entries);
    return entries.get(key);
  }
}
