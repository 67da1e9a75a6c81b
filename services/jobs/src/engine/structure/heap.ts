/**
 * A binary heap whose items know their place in it, so that any of them can be taken out or moved in O(log n). An item is in at most one heap that uses the
 * same slot, because the slot is one field of the item.
 */
export interface HeapItem {
  /** Where the item is in its heap; −1 when it is in none. Only the heap writes it. */
  slot: number;
}

export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** `before` must be a strict order, and may not change for two items while both are inside. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  /** In no order. */
  get items(): readonly T[] {
    return this.#items;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#up(item, this.#items.length - 1);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  remove(item: T): void {
    const items = this.#items;
    const at = item.slot;
    const last = items.pop() as T;
    item.slot = -1;
    if (last === item) return;
    this.#settle(last, at);
  }

  /** Call after the item's order has changed. */
  moved(item: T): void {
    this.#settle(item, item.slot);
  }

  #settle(item: T, at: number): void {
    if (at > 0 && this.#before(item, this.#items[(at - 1) >> 1] as T)) this.#up(item, at);
    else this.#down(item, at);
  }

  #up(item: T, at: number): void {
    const items = this.#items;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!this.#before(item, parent)) break;
      items[at] = parent;
      parent.slot = at;
      at = above;
    }
    items[at] = item;
    item.slot = at;
  }

  #down(item: T, at: number): void {
    const items = this.#items;
    const { length } = items;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= length) break;
      let child = items[below] as T;
      if (below + 1 < length) {
        const other = items[below + 1] as T;
        if (this.#before(other, child)) {
          child = other;
          below += 1;
        }
      }
      if (!this.#before(child, item)) break;
      items[at] = child;
      child.slot = at;
      at = below;
    }
    items[at] = item;
    item.slot = at;
  }
}
