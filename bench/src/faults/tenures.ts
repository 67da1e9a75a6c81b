/**
 * The admissions of a run, boiled down to one line per epoch: who admitted under it, and when first and last. That is all the checker needs, and it stays
 * small however long the run is.
 */
import { formatEpoch, type Epoch } from "@keelson/kernel";
import type { Pass } from "./recorder.ts";

export interface TenureSpan {
  readonly shard: string;
  readonly epoch: Epoch;
  /** The process: a node and which life of it. */
  readonly process: string;
  firstNs: number;
  lastNs: number;
}

export class TenureSpans {
  readonly #spans = new Map<string, Map<string, TenureSpan>>();

  add(process: string, [shard, era, revision, atNs]: Pass): void {
    let ofShard = this.#spans.get(shard);
    if (!ofShard) this.#spans.set(shard, (ofShard = new Map<string, TenureSpan>()));
    const epoch = { era, revision };
    const key = `${formatEpoch(epoch)} ${process}`;
    const known = ofShard.get(key);
    if (!known) ofShard.set(key, { shard, epoch, process, firstNs: atNs, lastNs: atNs });
    else {
      known.firstNs = Math.min(known.firstNs, atNs);
      known.lastNs = Math.max(known.lastNs, atNs);
    }
  }

  get size(): number {
    let size = 0;
    for (const ofShard of this.#spans.values()) size += ofShard.size;
    return size;
  }

  *byShard(): Iterable<readonly TenureSpan[]> {
    for (const ofShard of this.#spans.values()) yield [...ofShard.values()];
  }
}
