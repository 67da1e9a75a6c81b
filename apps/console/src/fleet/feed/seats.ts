/**
 * Where each replica sits on its node, for a picture that does not jump: who comes takes a free seat, who leaves frees it, and nobody else moves. Nobody's
 * replicas (node −1) have a row of seats too.
 */

interface Row {
  /** Replica by seat, −1 for a free one. */
  seats: number[];
  free: number[];
}

const NOWHERE = -2;
/** A row with fewer taken than this part of its seats is moved together. */
const SPARSE = 1 / 4;
const SEATS_MIN = 16;

export class Seats {
  readonly #rows = new Map<number, Row>();
  #node = new Int32Array(1_024).fill(NOWHERE);
  #seat = new Int32Array(1_024);

  /** Takes the replica to the node. */
  sit(replica: number, node: number): void {
    if (replica >= this.#node.length) this.#grow(replica + 1);
    if (this.#node[replica] === node) return;
    this.leave(replica);
    let row = this.#rows.get(node);
    if (!row) this.#rows.set(node, (row = { seats: [], free: [] }));
    const seat = row.free.pop() ?? row.seats.length;
    row.seats[seat] = replica;
    this.#node[replica] = node;
    this.#seat[replica] = seat;
  }

  leave(replica: number): void {
    const node = this.nodeOf(replica);
    const row = this.#rows.get(node);
    if (!row) return;
    const seat = this.#seat[replica]!;
    row.seats[seat] = -1;
    row.free.push(seat);
    this.#node[replica] = NOWHERE;
    const taken = row.seats.length - row.free.length;
    if (row.seats.length > SEATS_MIN && taken < row.seats.length * SPARSE) this.#gather(row);
  }

  /** The node that it sits on; −2 when it sits nowhere. */
  nodeOf(replica: number): number {
    return this.#node[replica] ?? NOWHERE;
  }

  seatOf(replica: number): number {
    return this.#seat[replica] ?? 0;
  }

  /** Replica by seat, −1 for a free one. */
  of(node: number): readonly number[] {
    return this.#rows.get(node)?.seats ?? [];
  }

  /** How many sit on the node. */
  taken(node: number): number {
    const row = this.#rows.get(node);
    return row ? row.seats.length - row.free.length : 0;
  }

  #gather(row: Row): void {
    row.seats = row.seats.filter((replica) => replica >= 0);
    row.free = [];
    for (const [seat, replica] of row.seats.entries()) this.#seat[replica] = seat;
  }

  #grow(size: number): void {
    const room = Math.max(size, this.#node.length * 2);
    const node = new Int32Array(room).fill(NOWHERE);
    const seat = new Int32Array(room);
    node.set(this.#node);
    seat.set(this.#seat);
    this.#node = node;
    this.#seat = seat;
  }
}
