import {
  AuctionMachine,
  ClaimMachine,
  parseAuctionKey,
  parseReplicaKey,
  readKnown,
  type AuctionAction,
  type AuctionPurpose,
  type Award,
  type Clock,
  type DecisionKind,
  type HeldSession,
  type HostMachine,
  type ImageChange,
  type Known,
  type OpenEra,
  type Plan,
  type ReplicaKey,
  type ShardMemory,
} from "@keelson/kernel";
import type { Committer } from "../commits/committer.ts";
import type { ServiceDefinition } from "../service/service.ts";

export interface AuctionPorts {
  readonly clock: Clock;
  readonly host: HostMachine;
  readonly committer: Committer;
  /** At so many answers a round closes, unless something else is stored. */
  readonly maxBids?: number | undefined;
  /** Something was reported to a machine: step it soon. */
  readonly changed: () => void;
  readonly decided: (kind: DecisionKind, reason: string, replica: ReplicaKey | undefined) => void;
}

/** Commits that may share a batch with others: they are many at once. */
const SHARED: ReadonlySet<AuctionPurpose> = new Set(["pass", "close", "claim", "footprint", "tidy"]);

/** A service that says nothing of memory has as much of it as anyone asks for. Only claims allow that: a bid without a number would mean nothing. */
const UNLIMITED: ShardMemory = {
  budgetBytes: Number.MAX_SAFE_INTEGER,
  freeBytes: () => Number.MAX_SAFE_INTEGER,
  sizeOf: () => 0,
};

/** Runs the auction or claim machine of every service that has one: feeds it, carries out what it decides, and reports what came of it. */
export class Auctions {
  readonly #ports: AuctionPorts;
  readonly #machines = new Map<string, AuctionMachine | ClaimMachine>();
  #stopped = false;

  constructor(services: Iterable<ServiceDefinition>, ports: AuctionPorts) {
    this.#ports = ports;
    for (const { name, placement, memory } of services) {
      const { host, maxBids } = ports;
      const options = {
        service: name,
        host,
        memory: memory ?? UNLIMITED,
        ...(maxBids === undefined ? {} : { maxBids }),
      };
      if (placement.kind === "auction") this.#machines.set(name, new AuctionMachine(options));
      else if (placement.kind === "claim") this.#machines.set(name, new ClaimMachine(options));
    }
  }

  /** Some service has its replicas auctioned or claimed. */
  get any(): boolean {
    return this.#machines.size > 0;
  }

  /** The machine of a service, for its counters. */
  of(service: string): AuctionMachine | ClaimMachine | undefined {
    return this.#machines.get(service);
  }

  /** Undefined: the view asks for a placement that this node was not built for. */
  setPlan(service: string, plan: Plan | undefined): void {
    this.#machines.get(service)?.setPlan(plan);
  }

  /** A key of kind `auction` changed. */
  feed(rest: string, known: Known<unknown> | undefined): void {
    const { service, part, about } = parseAuctionKey(rest);
    const machine = this.#machines.get(service);
    if (!machine) return;
    const now = this.#ports.clock.now();
    if (part === "award") {
      const replica = `${service}/${about}`;
      const award = readKnown(machine.market, part, about, known) as Known<Award> | undefined;
      this.#ports.host.setAward(replica, award, now);
      machine.noticed(replica);
    } else machine.feed(part, about, known, now);
  }

  /** A tenure came, changed or went, and the host machine has been told. */
  tenureChanged(replica: ReplicaKey, change: ImageChange): void {
    this.#of(replica)?.noticed(replica, change.entry ? undefined : change.revision);
  }

  contenderChanged(replica: ReplicaKey): void {
    this.#of(replica)?.noticed(replica);
  }

  troubleChanged(shard: string): void {
    this.#of(shard)?.noticedShard(shard);
  }

  tick(session: HeldSession | undefined, era: OpenEra | undefined, leaving: boolean): void {
    if (this.#stopped) return;
    for (const machine of this.#machines.values()) {
      this.#stand(machine, leaving ? undefined : session, era);
      for (const action of machine.step(this.#ports.clock.now())) this.#act(machine, action);
    }
  }

  /** Gives its offices up before leaving. */
  resign(session: HeldSession | undefined): void {
    for (const { election } of this.#machines.values()) {
      const commit = election.resign(session);
      if (commit) this.#ports.committer.alone(commit, () => this.#ports.changed());
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  wakeAt(): number {
    let at = Infinity;
    for (const machine of this.#machines.values())
      at = Math.min(at, machine.wakeAt(), machine.election.wakeAt());
    return at;
  }

  #of(key: string): AuctionMachine | ClaimMachine | undefined {
    return this.#machines.size === 0 ? undefined : this.#machines.get(parseReplicaKey(key).service);
  }

  #stand(
    machine: AuctionMachine | ClaimMachine,
    session: HeldSession | undefined,
    era: OpenEra | undefined,
  ): void {
    const { election, market } = machine;
    const { clock, committer, changed } = this.#ports;
    const commit = market.takesPart ? election.tick(session, era, clock.wall(), clock.now()) : undefined;
    if (commit)
      committer.alone(commit, () => {
        election.sent(clock.now());
        changed();
      });
  }

  #act(machine: AuctionMachine | ClaimMachine, action: AuctionAction): void {
    const { committer, clock, changed, decided } = this.#ports;
    if (action.kind === "decided") {
      decided(action.decision, action.reason, action.replica);
      return;
    }
    const report: Parameters<Committer["alone"]>[1] = (told, outcome) => {
      if (this.#stopped) return;
      machine.reported(action, told, outcome?.kind === "conflict" ? outcome : NOTHING, clock.now());
      changed();
    };
    if (SHARED.has(action.purpose)) committer.together(action.commit, report);
    else committer.alone(action.commit, report);
  }
}

const NOTHING = { failed: [], gone: [] };
