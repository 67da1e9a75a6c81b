/**
 * Makes room on a node. For a lot that fits nowhere (the fleet's `demand`), a node whose residents are colder lets the coldest rest; which node that is
 * follows from how long it waits first. For a repository that turns out to be larger when it comes, it does so at once, and so it does for one of its own that has
 * grown. What rests is released, and is no lot before somebody asks for it, or there is room.
 */
import type { Clock, Demand, Random, Timer } from "@keelson/kernel";
import { editsMax, type RepositoryCatalogue } from "./catalogue.ts";
import { chooseVictims, type EvictionTerms, type Resident } from "./evict.ts";
import type { CodeMetrics } from "./metrics.ts";
import type { Repository } from "./repository.ts";

interface EvictorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalogue: RepositoryCatalogue;
  readonly metrics: CodeMetrics;
  readonly terms: EvictionTerms;
  readonly residents: () => Resident[];
  readonly freeBytes: () => number;
  /** Of what was told to rest, and is still here. */
  readonly leavingBytes: () => number;
  readonly sizeOf: (id: number) => number;
  /** What fits on no node, as the auctions say. */
  readonly demand: () => Demand | undefined;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

const lookMs = 500;
/** The node with the coldest residents goes first: one whose are warmer by a second waits so much longer. */
const warmthMs = 20;
const waitMsMax = 2_000;
/** After room was made for a repository, others leave it this long to be taken. */
const settleMs = 10_000;

export class Evictor {
  readonly #ports: EvictorPorts;
  #timer: Timer | undefined;
  /** For what this node is about to make room, and when. */
  readonly #planned = new Map<number, number>();
  /** For which repositories rows said that somebody made room, and when that was seen. */
  readonly #madeRoom = new Map<number, number>();
  #stopped = false;

  constructor(ports: EvictorPorts) {
    this.#ports = ports;
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Another node, or this one, let others rest for this repository. */
  noticed(id: number): void {
    this.#madeRoom.set(id, this.#ports.clock.now());
  }

  /** Sees to it that so many more bytes will be free here, for a repository that comes to this node or has grown on it. False when that cannot be. */
  async makeRoom(repository: Repository, missingBytes: number): Promise<boolean> {
    const { leavingBytes, residents, terms, clock } = this.#ports;
    const missing = missingBytes - leavingBytes();
    if (missing <= 0) return true;
    const all = residents();
    const others = all.filter(({ id }) => id !== repository.id);
    const isHere = others.length < all.length;
    // What is here grows whether it is asked for or not: only residence protects against it. What comes must be wanted more than what goes, or they would take turns for ever.
    const victims = isHere
      ? chooseVictims(others, missing, { ...terms, idleMs: 0 }, clock.wall(), repository.pinned)
      : this.#colder(repository, missing);
    if (!victims) return false;
    await this.#rest(victims, repository);
    return true;
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#timer = this.#ports.clock.after(lookMs, () => {
      this.#look()
        .catch((error: unknown) => this.#ports.log("no room was made", { why: String(error) }))
        .finally(() => this.#arm());
    });
  }

  async #look(): Promise<void> {
    const { demand, catalogue, clock } = this.#ports;
    const wanted = new Set((demand()?.replicas ?? []).map((replica) => Number(replica.split("/")[1])));
    for (const id of this.#planned.keys()) if (!wanted.has(id)) this.#planned.delete(id);
    for (const id of wanted) {
      const repository = catalogue.get(id);
      if (!repository || repository.state !== "active") continue;
      if (clock.now() - (this.#madeRoom.get(id) ?? -Infinity) < settleMs) continue;
      const victims = this.#victimsFor(repository);
      if (!victims) continue;
      const at = this.#planned.get(id) ?? clock.now() + this.#waitMs(victims);
      this.#planned.set(id, at);
      if (clock.now() < at) continue;
      this.#planned.delete(id);
      await this.#rest(victims, repository);
      return;
    }
  }

  #victimsFor(repository: Repository): Resident[] | undefined {
    const { freeBytes, leavingBytes, sizeOf } = this.#ports;
    const missing = sizeOf(repository.id) - freeBytes() - leavingBytes();
    // There is room already: the auction will find it.
    return missing <= 0 ? undefined : this.#colder(repository, missing);
  }

  /** What was wanted before this one was. */
  #colder(repository: Repository, missing: number): Resident[] | undefined {
    const { residents, terms, clock } = this.#ports;
    const colder = residents().filter(
      ({ lastServedAt, since }) => repository.pinned || Math.max(lastServedAt, since) < repository.wantedAt,
    );
    return chooseVictims(colder, missing, terms, clock.wall(), repository.pinned);
  }

  #waitMs(victims: readonly Resident[]): number {
    const { clock, random } = this.#ports;
    const warmest = Math.max(...victims.map(({ lastServedAt, since }) => Math.max(lastServedAt, since)));
    const idleS = (clock.wall() - warmest) / 1_000;
    return Math.max(0, waitMsMax - warmthMs * idleS) + random() * 500;
  }

  async #rest(victims: readonly Resident[], repository: Repository): Promise<void> {
    const { catalogue, metrics, log } = this.#ports;
    const reason = `made room for ${repository.name}`;
    this.noticed(repository.id);
    const rested = await catalogue.edit(
      victims
        .map(({ id }) => id)
        .filter((id) => catalogue.get(id) !== undefined)
        // One commit takes no more; if that was not enough, there is another look.
        .slice(0, editsMax),
      (row) => (row.pinned || row.state === "resting" ? row : { ...row, state: "resting", reason }),
    );
    metrics.count("code_evictions_total", {}, rested.length);
    log(reason, { rested: rested.map(({ name }) => name) });
  }
}
