/** Something that is to happen at an instant. `run` is dropped when it is cancelled, so that what it holds can be freed at once. */
export interface Scheduled {
  readonly at: number;
  readonly sequence: number;
  run: (() => void) | undefined;
}

/** A binary heap of what is to happen, ordered by instant, and by the order of scheduling where instants are equal. */
export class EventHeap {
  readonly #items: Scheduled[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): Scheduled | undefined {
    return this.#items[0];
  }

  push(item: Scheduled): void {
    const items = this.#items;
    let hole = items.length;
    items.push(item);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = items[parent] as Scheduled;
      if (!before(item, above)) break;
      items[hole] = above;
      hole = parent;
    }
    items[hole] = item;
  }

  pop(): Scheduled | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && before(items[right] as Scheduled, items[child] as Scheduled)) child = right;
      const below = items[child] as Scheduled;
      if (!before(below, last)) break;
      items[hole] = below;
      hole = child;
    }
    items[hole] = last;
    return first;
  }
}

function before(a: Scheduled, b: Scheduled): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence);
}
