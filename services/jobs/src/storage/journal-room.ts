/**
 * What all shards of a node may have on its way to their journal together. The journal refuses what goes beyond its own bound, and by then the engine has changed;
 * so whoever has no room keeps its records in order and sends them when there is. Who has not applied its command yet waits with it, and memory stays bounded.
 */

/** Beside a record's own bytes: its head in the batch, and its share of the batch's. */
const RECORD_OVERHEAD_BYTES = 64;

export class JournalRoom {
  readonly #bytesMax: number;
  #taken = 0;
  /** Who waits, in order of coming. Each takes what it needs when it is called, or stays first in line. */
  #waiting: (() => boolean)[] = [];
  #opened: (() => void)[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Nobody waits for room. */
  get isOpen(): boolean {
    return this.#waiting.length === 0 && this.#taken < this.#bytesMax;
  }

  /** Whether the record may be sent now. One that is larger than all there is may, alone: the journal has the last word. */
  take(recordBytes: number): boolean {
    if (this.#waiting.length > 0 || !this.#fits(recordBytes)) return false;
    this.#taken += recordBytes + RECORD_OVERHEAD_BYTES;
    return true;
  }

  /** Records of so many bytes in all have arrived, or never will. */
  free(records: number, recordBytes: number): void {
    this.#taken -= recordBytes + records * RECORD_OVERHEAD_BYTES;
    this.#serve();
  }

  /** `send` is called when it is the first in line and something was freed; it sends what fits, and says whether that was all. */
  wait(send: () => boolean): void {
    this.#waiting.push(send);
  }

  /** For who is served from the line: as `take`, but nobody is before it. */
  takeInTurn(recordBytes: number): boolean {
    if (!this.#fits(recordBytes)) return false;
    this.#taken += recordBytes + RECORD_OVERHEAD_BYTES;
    return true;
  }

  /** Resolves when nobody waits. */
  opened(): Promise<void> {
    if (this.isOpen) return Promise.resolve();
    return new Promise((resolve) => this.#opened.push(resolve));
  }

  #fits(recordBytes: number): boolean {
    return this.#taken === 0 || this.#taken + recordBytes + RECORD_OVERHEAD_BYTES <= this.#bytesMax;
  }

  #serve(): void {
    while (this.#waiting[0]?.() === true) this.#waiting.shift();
    if (this.isOpen) for (const resolve of this.#opened.splice(0)) resolve();
  }
}
