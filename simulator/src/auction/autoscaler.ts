import {
  lowerAfterDrain,
  raiseBeforeJoin,
  type AuctionConfig,
  type Commit,
  type Keys,
  type Known,
} from "@keelson/kernel";
import type { SimNode } from "../node.ts";
import type { StoreServer } from "../store-server.ts";
import type { Supervisor } from "../supervisor.ts";
import type { Scheduler } from "../time/scheduler.ts";
import type { AuctionWorld } from "./world.ts";

export interface AutoscalerTerms {
  /** How often it looks; 0 switches it off. */
  readonly lookMs: number;
  /** From its decision to the start of a node: what it takes to get a machine. */
  readonly startMs: number;
  /** After a change it leaves the fleet alone for this long. */
  readonly coolMs: number;
  /** A node is drained when the rest would then be used below this share; 0 never. */
  readonly drainBelow: number;
}

export interface AutoscalerPorts {
  readonly scheduler: Scheduler;
  readonly supervisor: Supervisor;
  readonly store: StoreServer;
  readonly keys: Keys;
  readonly service: string;
  readonly world: AuctionWorld;
}

/**
 * An autoscaler as an operator would run one beside the fleet: it reads the signal `demand` from the store and starts a spare machine; when there is room to spare it drains one. It
 * raises a configured `maxBids` before the node is started and lowers it after the drain.
 */
export class Autoscaler {
  readonly #terms: AutoscalerTerms;
  readonly #ports: AutoscalerPorts;
  #quietUntil = 0;
  started = 0;
  drained = 0;

  constructor(terms: AutoscalerTerms, ports: AutoscalerPorts) {
    this.#terms = terms;
    this.#ports = ports;
    if (terms.lookMs > 0) this.#next();
  }

  #next(): void {
    this.#ports.scheduler.after(this.#terms.lookMs, () => {
      this.#look();
      this.#next();
    });
  }

  #look(): void {
    const { scheduler, supervisor, store, keys, service } = this.#ports;
    if (!store.up || scheduler.now < this.#quietUntil) return;
    const demanded = this.#read(keys.auction(service, "demand")) !== undefined;
    const [spare] = supervisor.spare;
    if (demanded && spare) this.#scaleUp(spare);
    else if (!demanded) this.#scaleDown();
  }

  #scaleUp(node: SimNode): void {
    const { scheduler, supervisor, keys, service } = this.#ports;
    this.#quietUntil = scheduler.now + this.#terms.coolMs;
    this.started++;
    this.#commit(raiseBeforeJoin(keys, service, this.#config(), 1));
    supervisor.startLater(node, this.#terms.startMs);
  }

  #scaleDown(): void {
    const { scheduler, supervisor, keys, service, world } = this.#ports;
    const { settledIn } = supervisor;
    if (this.#terms.drainBelow === 0 || settledIn.length <= STAY_MIN) return;
    const used = settledIn.reduce((sum, { name }) => sum + world.usedBytes(name), 0);
    const least = settledIn.reduce((a, b) => (world.usedBytes(a.name) <= world.usedBytes(b.name) ? a : b));
    const left = settledIn.reduce(
      (sum, { name }) => sum + world.budgetBytes(name),
      -world.budgetBytes(least.name),
    );
    if (used === 0 || used > this.#terms.drainBelow * left) return;
    this.#quietUntil = scheduler.now + this.#terms.coolMs;
    this.drained++;
    supervisor.retire(least, () => this.#commit(lowerAfterDrain(keys, service, this.#config(), 1)));
  }

  #config(): Known<AuctionConfig> | undefined {
    return this.#read<AuctionConfig>(this.#ports.keys.auction(this.#ports.service, "config"));
  }

  #read<T>(key: string): Known<T> | undefined {
    const { store } = this.#ports;
    if (!store.up) return undefined;
    const entry = store.core.range(key, { limit: 1 }).entries[0];
    return entry?.key === key ? { value: JSON.parse(entry.value) as T, revision: entry.revision } : undefined;
  }

  #commit(commit: Commit | undefined): void {
    const { store } = this.#ports;
    if (commit && store.up) store.apply((core) => core.commit(commit, core.incarnation));
  }
}

/** Not below this, however little there is to hold. */
const STAY_MIN = 3;
