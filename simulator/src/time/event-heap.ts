/** Something that is to happen at an instant. Kinds of it carry what they need themselves, because there are hundreds a simulated second. */
export abstract class Happening {
  /** Set when it is scheduled. */
  at = 0;
  sequence = 0;
  /** Where it lies in the heap; -1 while it lies in none. */
  place = -1;

  abstract happen(): void;
}

/** A binary heap of what is to happen, ordered by instant, and by the order of scheduling where instants are equal. */
export class EventHeap {
  readonly #items: Happening[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): Happening | undefined {
    return this.#items[0];
  }

  push(item: Happening): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  pop(): Happening | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Takes it out; does nothing when it is not in. Most of what is taken out lies far in the future, near the bottom, where that costs little. */
  remove(item: Happening): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const items = this.#items;
    const last = items.pop() as Happening;
    if (last === item) return;
    if (place > 0 && before(last, items[(place - 1) >> 1] as Happening)) this.#rise(last, place);
    else this.#sink(last, place);
  }

  #rise(item: Happening, from: number): void {
    const items = this.#items;
    let hole = from;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = items[parent] as Happening;
      if (!before(item, above)) break;
      items[hole] = above;
      above.place = hole;
      hole = parent;
    }
    items[hole] = item;
    item.place = hole;
  }

  #sink(item: Happening, from: number): void {
    const items = this.#items;
    const { length } = items;
    let hole = from;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= length) break;
      let below = items[child] as Happening;
      const right = child + 1;
      if (right < length && before(items[right] as Happening, below)) {
        child = right;
        below = items[right] as Happening;
      }
      if (!before(below, item)) break;
      items[hole] = below;
      below.place = hole;
      hole = child;
    }
    items[hole] = item;
    item.place = hole;
  }
}

function before(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence);
}
