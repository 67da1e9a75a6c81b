/**
 * The room on this node that repositories were given and have not taken yet. How large one is shows only when it is here: without this, several that come at once would all find the same
 * room. Who needs more than is free waits in line while others rest for it.
 */
import type { Clock } from "@keelson/kernel";
import { noRoom } from "./build.ts";
import { Limiter } from "./limiter.ts";
import type { Repository } from "./repository.ts";

/** Whoever gets room, with what it has already: a new commit takes the place of the one before. */
interface Taker {
  readonly memoryBytes: number;
  /** Aborts when it is no longer wanted. */
  readonly ending: AbortSignal;
}

interface ReservationPorts {
  readonly clock: Clock;
  /** For all repositories, and what those that are here take of it. */
  readonly budgetBytes: number;
  readonly preparedBytes: () => number;
  /** The engine's: what is written, also by those that are not here yet, and what fits between. */
  readonly usedBytes: () => number;
  readonly roomBytes: () => number;
  /** Lets others rest, so that this many more bytes will be free. False when that cannot be. */
  readonly makeRoom: (repository: Repository, missingBytes: number) => Promise<boolean>;
  /** Says to all how large it is, and how much of that it has here already, so that only those bid who have the room. */
  readonly foundSize: (id: number, bytes: number, heldBytes: number) => Promise<void>;
}

/** What was told to rest is gone a moment later, because its requests finish first: how long that is waited for, and how often it is looked at. */
const waitMs = 15_000;
const lookMs = 50;

export class Reservations {
  readonly #ports: ReservationPorts;
  readonly #given = new Map<Taker, number>();
  readonly #line = new Limiter(1);

  constructor(ports: ReservationPorts) {
    this.#ports = ports;
  }

  /** Resolves to what gives the room back, to be called when it was taken or is no longer wanted. Rejects when there cannot be so much, or nobody wants it any more. */
  async reserve(repository: Repository, bytes: number, taker: Taker): Promise<() => void> {
    const given = await this.#line.run(() => this.#give(repository, bytes, taker), taker.ending);
    if (given) return () => void this.#given.delete(taker);
    await this.#ports.foundSize(repository.id, bytes, taker.memoryBytes);
    throw noRoom(repository, bytes, this.#has(taker));
  }

  async #give(repository: Repository, bytes: number, taker: Taker): Promise<boolean> {
    const { clock, makeRoom } = this.#ports;
    const deadline = clock.now() + waitMs;
    while (bytes > this.#has(taker)) {
      if (clock.now() >= deadline || !(await makeRoom(repository, bytes - this.#has(taker)))) return false;
      await new Promise<void>((resolve) => void clock.after(lookMs, resolve));
      // Nothing more rests for it, and the next in line has waited long enough.
      taker.ending.throwIfAborted();
    }
    this.#given.set(taker, bytes - taker.memoryBytes);
    return true;
  }

  #has(taker: Taker): number {
    const { budgetBytes, preparedBytes, usedBytes, roomBytes } = this.#ports;
    let given = 0;
    for (const [other, bytes] of this.#given) if (other !== taker) given += bytes;
    const prepared = preparedBytes();
    // What is being built is in the engine's memory already, but for what is still to come.
    const toCome = Math.max(0, given - Math.max(0, usedBytes() - prepared));
    const free = Math.min(budgetBytes - prepared - given, roomBytes() - toCome);
    return Math.max(0, free) + taker.memoryBytes;
  }
}
