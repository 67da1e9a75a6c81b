/**
 * Remembers when each of many things wants to be looked at again. One wake-up per name: setting it again replaces it. A binary heap
 * with lazy removal, so that setting is O(log n) and the earliest time is O(1) amortised.
 */
export class WakeQueue {
  readonly #at = new Map<string, number>();
  #heap: { at: number; name: string }[] = [];

  /** Wants `name` at `at`, instead of whenever it was wanted before; undefined takes the wish back. */
  set(name: string, at: number | undefined): void {
    if (at === undefined) {
      this.#at.delete(name);
      return;
    }
    if (this.#at.get(name) === at) return;
    this.#at.set(name, at);
    this.#push({ at, name });
  }

  /** Wants `name` at `at`, unless it is already wanted earlier. */
  sooner(name: string, at: number): void {
    if (at < (this.#at.get(name) ?? Infinity)) this.set(name, at);
  }

  /** The earliest wanted time. */
  next(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.at;
  }

  /** Takes out and returns every name that is due. */
  due(now: number): string[] {
    const names: string[] = [];
    for (;;) {
      this.#dropStale();
      const top = this.#heap[0];
      if (!top || top.at > now) return names;
      this.#pop();
      this.#at.delete(top.name);
      names.push(top.name);
    }
  }

  clear(): void {
    this.#at.clear();
    this.#heap = [];
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top && this.#at.get(top.name) !== top.at; top = this.#heap[0]) this.#pop();
  }

  #push(item: { at: number; name: string }): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(item);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent]!;
      if (above.at <= item.at) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = item;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
      if (heap[child]!.at >= last.at) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
  }
}
