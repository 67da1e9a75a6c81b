/**
 * Replicas as columns of numbers, and what can be counted from them: how many a service has in each state, how many a node holds and what they weigh. Rows
 * are added at the end and never move. It knows nothing of keys or of the store.
 */
import { REPLICA_STATES, type ReplicaState } from "../contract.ts";

export interface ReplicaRow {
  /** −1: nobody, nowhere. */
  readonly holder: number;
  readonly target: number;
  readonly state: ReplicaState;
  readonly era: number;
  readonly revision: number;
  readonly sinceSeconds: number;
  readonly strikes: number;
}

export interface Weight {
  readonly load: number;
  readonly bytes: number;
}

interface Kept extends ReplicaRow, Weight {
  readonly key: string;
  readonly service: number;
  gone: boolean;
}

const NOTHING: ReplicaRow = {
  holder: -1,
  target: -1,
  state: "unheld",
  era: 0,
  revision: 0,
  sinceSeconds: 0,
  strikes: 0,
};

export type StateCounts = Record<ReplicaState, number>;

export class ReplicaTable {
  readonly #rows: Kept[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #states: StateCounts[] = [];
  readonly #held = new Map<number, { count: number; bytes: number }>();
  #gone = 0;

  /** Rows ever added. */
  get size(): number {
    return this.#rows.length;
  }

  /** Rows of replicas that there are no more. */
  get gone(): number {
    return this.#gone;
  }

  find(key: string): number | undefined {
    return this.#byKey.get(key);
  }

  keyOf(index: number): string {
    return this.#rows[index]!.key;
  }

  row(index: number): (ReplicaRow & Weight) | undefined {
    const row = this.#rows[index];
    return row?.gone === false ? row : undefined;
  }

  /** Of a service, by its number. */
  states(service: number): Readonly<StateCounts> {
    return this.#countsOf(service);
  }

  heldBy(node: number): { readonly count: number; readonly bytes: number } {
    return this.#held.get(node) ?? { count: 0, bytes: 0 };
  }

  add(key: string, service: number): number {
    const index = this.#rows.length;
    this.#rows.push({ ...NOTHING, key, service, load: -1, bytes: -1, gone: false });
    this.#byKey.set(key, index);
    this.#countsOf(service).unheld++;
    return index;
  }

  remove(index: number): void {
    const row = this.#rows[index];
    if (!row || row.gone) return;
    this.set(index, NOTHING);
    this.#countsOf(row.service).unheld--;
    this.#byKey.delete(row.key);
    row.gone = true;
    this.#gone++;
  }

  /** Whether anything is different now. */
  set(index: number, row: ReplicaRow): boolean {
    const before = this.#rows[index];
    if (!before || before.gone || same(before, row)) return false;
    const counts = this.#countsOf(before.service);
    counts[before.state]--;
    counts[row.state]++;
    this.#weigh(before.holder, -1, before.bytes);
    this.#weigh(row.holder, 1, before.bytes);
    Object.assign(before, row);
    return true;
  }

  setWeight(index: number, { load, bytes }: Weight): boolean {
    const row = this.#rows[index];
    if (!row || row.gone || (row.load === load && row.bytes === bytes)) return false;
    this.#weigh(row.holder, -1, row.bytes);
    Object.assign(row, { load, bytes });
    this.#weigh(row.holder, 1, bytes);
    return true;
  }

  #weigh(node: number, by: 1 | -1, bytes: number): void {
    if (node < 0) return;
    let held = this.#held.get(node);
    if (!held) this.#held.set(node, (held = { count: 0, bytes: 0 }));
    held.count += by;
    held.bytes += by * Math.max(0, bytes);
  }

  #countsOf(service: number): StateCounts {
    return (this.#states[service] ??= Object.fromEntries(
      REPLICA_STATES.map((state) => [state, 0]),
    ) as StateCounts);
  }
}

function same(a: ReplicaRow, b: ReplicaRow): boolean {
  return (
    a.holder === b.holder &&
    a.target === b.target &&
    a.state === b.state &&
    a.revision === b.revision &&
    a.era === b.era &&
    a.sinceSeconds === b.sinceSeconds &&
    a.strikes === b.strikes
  );
}
