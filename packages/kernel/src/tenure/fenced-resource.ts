import { NO_EPOCH, compareEpochs, formatEpoch, type Epoch } from "../identity/epoch.ts";

/** A write came with an epoch below one that was already seen: its sender is no longer the holder. It must stop, not retry. */
export class StaleEpochError extends Error {
  override readonly name = "StaleEpochError";
  readonly code = "STALE_EPOCH";
  readonly offered: Epoch;
  readonly seen: Epoch;

  constructor(offered: Epoch, seen: Epoch) {
    super(
      `epoch ${formatEpoch(offered)} is older than ${formatEpoch(seen)}: another tenure has begun, stop writing`,
    );
    this.offered = offered;
    this.seen = seen;
  }
}

/**
 * The check that makes a resource safe to share between a holder and its former self. Whatever a shard writes to outside its process keeps
 * one of these, beside the data and as durable as the data, and asks it before every write.
 */
export class EpochGate {
  #highest: Epoch;

  /** `highest` is what was stored with the data, if anything was. */
  constructor(highest: Epoch = NO_EPOCH) {
    this.#highest = highest;
  }

  get highest(): Epoch {
    return this.#highest;
  }

  /** A new tenure announces itself, before it reads. From here on every lower epoch is refused. */
  raise(epoch: Epoch): void {
    this.check(epoch);
    this.#highest = epoch;
  }

  /** Requires the epoch to be the newest seen. Throws StaleEpochError otherwise; the caller must not write. */
  check(epoch: Epoch): void {
    if (compareEpochs(epoch, this.#highest) < 0) throw new StaleEpochError(epoch, this.#highest);
    if (compareEpochs(epoch, this.#highest) > 0) this.#highest = epoch;
  }
}
