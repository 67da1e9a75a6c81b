/**
 * What repositories that were removed leave in the store: a holder tells of its index a moment after the row has gone, somebody poked it, and auctions remember rounds and sizes. The number of a
 * repository is never used again, so all of that would stay for ever, and be in every node's memory. Every node notes who was removed; the one that looks after the fleet takes away what they left,
 * once nobody holds them and nothing more can be written.
 */
import type { Clock, Timer } from "@keelson/kernel";
import type { Catalogue } from "@keelson/runtime";
import { repositoriesMax } from "./repository.ts";

interface LeavingsPorts {
  readonly clock: Clock;
  readonly catalogue: Pick<Catalogue, "service" | "follow" | "get" | "commit">;
  /** Of each repository. */
  readonly replicas: number;
  /** Somebody has this replica still, and may write of it. */
  readonly isHeld: (replica: string) => boolean;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

const sweepMs = 1_000;
/** Repositories in one sweep: some hundred commits a minute, beside which nobody else has to wait. */
const sweptMax = 4;
/** What was under way when it was removed has ended by then. */
const settleMs = 10_000;
/** Who does not sweep notes it all the same, in case it will have to; after this long somebody else has. */
const keepMs = 3_600_000;

export class Leavings {
  readonly #ports: LeavingsPorts;
  /** When each was removed; the longest ago first. */
  readonly #removed = new Map<number, number>();
  readonly #unfollow: () => void;

  constructor(ports: LeavingsPorts) {
    this.#ports = ports;
    this.#unfollow = ports.catalogue.follow((about, known) => {
      const [part, id] = about.split("/");
      if (part === "repo" && !known) this.#noticed(Number(id));
    });
  }

  stop(): void {
    this.#unfollow();
  }

  #noticed(id: number): void {
    const now = this.#ports.clock.now();
    this.#removed.set(id, now);
    for (const [old, at] of this.#removed)
      if (now - at > keepMs || this.#removed.size > repositoriesMax) this.#removed.delete(old);
      else break;
  }

  /** Sweeps from now on. Returns how to end it. */
  sweeping(): () => void {
    let timer: Timer | undefined;
    let stopped = false;
    const next = (): void => {
      if (stopped) return;
      timer = this.#ports.clock.after(sweepMs, () => {
        this.#sweep()
          .catch((error: unknown) =>
            this.#ports.log("what removed repositories left was not taken away", { why: String(error) }),
          )
          .finally(next);
      });
    };
    next();
    return () => {
      stopped = true;
      timer?.cancel();
    };
  }

  async #sweep(): Promise<void> {
    const { clock, isHeld } = this.#ports;
    const due = clock.now() - settleMs;
    let swept = 0;
    for (const [id, at] of this.#removed) {
      if (at > due || swept >= sweptMax) return;
      if (this.#replicasOf(id).some(isHeld)) continue;
      swept++;
      if (await this.#forget(id)) this.#removed.delete(id);
    }
  }

  /** False when it is not known whether that was done. */
  async #forget(id: number): Promise<boolean> {
    const { catalogue, replicas } = this.#ports;
    const abouts = [`size/${id}`, `poke/${id}`];
    for (let replica = 0; replica < replicas; replica++) abouts.push(`indexed/${id}/${replica}`);
    const report = await catalogue.commit({
      // A row cannot come back under this number; if it did, nothing of it is lost.
      guards: [{ about: `repo/${id}`, revision: 0 }],
      writes: abouts
        .filter((about) => catalogue.get(about) !== undefined)
        .map((about) => ({ about, value: undefined })),
      forgotten: [{ shard: `${catalogue.service}/${id}`, replicas }],
    });
    return report === "committed" || report === "conflict";
  }

  #replicasOf(id: number): string[] {
    const { catalogue, replicas } = this.#ports;
    return Array.from({ length: replicas }, (_, replica) => `${catalogue.service}/${id}/${replica}`);
  }
}
