import {
  ALL_RULES,
  DecisionLog,
  Election,
  EraMachine,
  HostMachine,
  Keys,
  SessionMachine,
  explain,
  operatorController,
  protocolController,
  terms as allTerms,
  type AbortSignalLike,
  type Controller,
  type Decision,
  type DecisionKind,
  type Epoch,
  type Explanation,
  type HeldSession,
  type HostAction,
  type ImageChange,
  type NodeReply,
  type NodeRequest,
  type NodeStream,
  type ReplicaKey,
  type Terms,
  type Timer,
} from "@keelson/kernel";
import { Auctions } from "../auction/auctions.ts";
import { Catalogue } from "../catalogue/catalogue.ts";
import { Committer } from "../commits/committer.ts";
import { KeelsonError } from "../errors.ts";
import { Host } from "../host/host.ts";
import { Requests } from "../host/requests.ts";
import { Balancing } from "../manager/balancing.ts";
import { Manager } from "../manager/manager.ts";
import type { Planning } from "../manager/planning.ts";
import { fleetMirror } from "../mirror/fleet-mirror.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { newBoot } from "./boot.ts";
import { Eras } from "./eras.ts";
import { feed, knownContenders, knownTenure, type Fed } from "./feed.ts";
import { followersOf } from "./followers.ts";
import { hosted, knowsItsReplicas } from "./hosting.ts";
import { Membership } from "./membership.ts";
import { nodeOptionsProblem, type NodeOptions, type NodePorts } from "./options.ts";
import { Sessions } from "./sessions.ts";
import { Views } from "./views.ts";
import { Waiting } from "./waiting.ts";

/** However quiet it is, everything is looked at this often; or with every renewal, where those are rarer. */
const LOOK_MS = 1_000;

/** Its `then` is the cheapest way to run after whatever is going on now. */
const settled = Promise.resolve();

const CONTROLLERS: readonly Controller[] = [protocolController, operatorController];

/**
 * One node: keeps its sessions, follows the store, holds what the plan gives it, and answers requests for it. Everything it decides is decided by the kernel's machines;
 * this class feeds them from one copy of the store and carries their wishes out, in one loop that runs when something happened or a machine
 * asked to be woken.
 */
export class KeelsonNode {
  readonly keys: Keys;
  readonly terms: Terms;
  readonly boot: string;
  readonly mirror: Mirror;
  readonly decisions = new DecisionLog();

  readonly #options: NodeOptions;
  readonly #ports: NodePorts;
  readonly #committer: Committer;
  readonly #sessions: Sessions;
  readonly #eras: Eras;
  readonly #membership: Membership;
  readonly #views: Views;
  readonly #host: Host;
  readonly #requests: Requests;
  readonly #election: Election;
  readonly #manager: Manager;
  readonly #balancing: Balancing;
  readonly #auctions: Auctions;
  readonly #fed: Fed;
  readonly #drainKey: string;
  #timer: Timer | undefined;
  #timerAt = Infinity;
  #scheduled = false;
  #unsubscribe: () => void = () => undefined;
  #state: "new" | "running" | "leaving" | "stopped" = "new";
  #fatal: KeelsonError | undefined;
  readonly #waiting = new Waiting();
  #noted = { era: -1, liveness: "", membership: "" };

  constructor(options: NodeOptions, ports: NodePorts) {
    const problem = nodeOptionsProblem(options);
    if (problem) throw new KeelsonError("BAD_CONFIG", problem);
    this.#options = options;
    this.#ports = ports;
    const { clock, store, random } = ports;
    const { node, address } = options;
    const rules = options.rules ?? ALL_RULES;
    this.keys = new Keys(options.fleet);
    this.#drainKey = this.keys.drain(node);
    this.terms = allTerms(options.terms);
    this.boot = newBoot(random);
    const { keys, terms } = this;
    const changed = () => this.#soon();
    this.mirror = ports.mirror ?? fleetMirror(options.fleet, ports, terms);
    const { mirror } = this;
    this.#committer = new Committer({ store, mirror, clock, timeoutMs: terms.commitTimeoutMs });
    const committer = this.#committer;
    this.#sessions = new Sessions(new SessionMachine(terms, rules), {
      store,
      clock,
      mirror,
      terms,
      changed: (lost) => this.#sessionsChanged(lost),
    });
    this.#eras = new Eras(new EraMachine(rules, terms.ttlMsMax, ports.memory?.load()?.era ?? 0), {
      clock,
      keys,
      mirror,
      committer,
      node,
      terms,
      rules,
      source: ports.eras,
      changed: (reason) => {
        this.#decide("era", reason);
        changed();
      },
    });
    const services = new Map(options.services.map((service) => [service.name, service]));
    const common = { clock, keys, mirror, committer, changed };
    this.#membership = new Membership(
      {
        v: 1,
        node,
        boot: this.boot,
        address,
        zone: options.zone ?? "",
        labels: options.labels ?? {},
        capabilities: options.capabilities ?? [],
        version: options.version ?? "0.0.0",
        protocol: options.protocol ?? { min: 1, max: 1 },
        capacity: options.capacity ?? 1,
        startedAt: clock.wall(),
        services: [...services.keys()],
      },
      { ...common, terms, fatal: (error) => this.#die(error) },
    );
    this.#views = new Views(services.values(), {
      ...common,
      node,
      terms,
      rules,
      planned: (service, plan) => {
        if (plan) this.#host.machine.setPlan(service, plan, clock.now());
        this.#auctions.setPlan(service, plan);
      },
      decided: (kind, reason) => this.#decide(kind, reason),
    });
    const followers = [...services.values()].every(knowsItsReplicas) ? followersOf<Fed>(mirror) : undefined;
    const machine = new HostMachine({
      self: { node, boot: this.boot, address },
      keys,
      terms,
      rules,
      random,
      wall: () => clock.wall(),
      services: new Map([...services].map(([name, s]) => [name, hosted(s)])),
      source: {
        tenure: (replica) => knownTenure(mirror.image.get(keys.tenure(replica))),
        ...(followers && {
          contenders: (replica: ReplicaKey) => knownContenders(mirror.image, replica),
          follow: (replica: ReplicaKey) => followers.follow(replica, this.#fed),
        }),
      },
    });
    this.#host = new Host(machine, services, {
      clock,
      committer,
      soon: changed,
      decided: (action) => this.#decided(action),
      revoke: (session) => void this.#sessions.revoke(session),
    });
    this.#requests = new Requests(this.#host, clock);
    this.#election = new Election(keys, node, random);
    this.#balancing = new Balancing(services, {
      ...common,
      node,
      random,
      stats: (service) => this.#host.stats(service),
      input: () => this.#manager.input(),
      plan: (service) => machine.plan(service),
      view: (service) => this.#views.view(service),
      decided: (reason) => this.#decide("manager", reason),
    });
    this.#manager = new Manager({
      ...common,
      election: this.#election,
      controllers: [...CONTROLLERS, ...this.#balancing.controllers, ...(options.controllers ?? [])],
      decided: (reason) => this.#decide("manager", reason),
    });
    this.#auctions = new Auctions(services.values(), {
      ...common,
      host: machine,
      maxBids: options.maxBids,
      decided: (kind, reason, replica) => this.#decide(kind, reason, replica),
    });
    this.#fed = {
      followers,
      keys,
      host: machine,
      views: this.#views,
      eras: this.#eras,
      election: this.#election,
      manager: this.#manager,
      auctions: this.#auctions,
    };
    for (const service of services.values()) service.attach?.(this);
  }

  /** Joins the fleet. Resolves once the node is a member; rejects when it never can be, and says why. */
  async start(): Promise<void> {
    if (this.#state !== "new")
      throw new KeelsonError("NOT_STARTED", "a node is started once; make a new one");
    this.#state = "running";
    this.#fed.followers?.join(this.#options.node, this.#fed);
    // What a dead process of this node left behind, on this machine: its sessions are ours to end.
    for (const session of this.#ports.memory?.load()?.sessions ?? []) void this.#sessions.revoke(session);
    this.#unsubscribe = this.mirror.subscribe({
      changed: (changes) => this.#imageChanged(changes),
      listed: (fallen) => this.#listed(fallen),
    });
    if (!this.#ports.mirror) this.mirror.start();
    await this.#until(() => this.#membership.joined(this.#sessions.machine.membership));
  }

  /** Leaves gracefully: membership first, so that successors get ready; then everything is handed over; then the session ends. */
  async leave(): Promise<void> {
    if (this.#state === "stopped") return;
    if (this.#state === "running") {
      this.#state = "leaving";
      this.#decide("leaving", "asked to leave");
      this.#manager.resign(this.#sessions.liveness);
      this.#auctions.resign(this.#sessions.liveness);
      this.#sessions.act(this.#sessions.machine.leave());
      this.#host.machine.leave(this.#ports.clock.now());
      this.#soon();
    }
    await this.#until(() => this.#host.machine.idle());
    const last = this.#sessions.machine.stop();
    this.#stop();
    for (const action of last) if (action.kind === "revoke") await this.#sessions.revoke(action.session);
    this.#ports.memory?.save({ era: this.#eras.machine.remembered, sessions: [] });
  }

  /**
   * A service cannot work on this node for now, whatever the shard: its shards are given up, with nothing held against them, and others take them. The node stays a
   * member and takes nothing of the service until `resume`, which is for whoever called this to call.
   */
  suspend(service: string, reason: string): void {
    this.#host.machine.suspend(service, reason, this.#ports.clock.now());
    this.#soon();
  }

  /** The service can work here again. */
  resume(service: string): void {
    this.#host.machine.resume(service);
    this.#soon();
  }

  /** Drops everything on the spot, as a crash would. Its sessions expire by themselves. */
  abandon(): void {
    this.#host.abandon();
    this.#sessions.abandon();
    this.#stop();
  }

  /** A request from another node, a gateway or a client. Never touches the store. */
  handle(request: NodeRequest, signal?: AbortSignalLike): Promise<NodeReply> {
    if (this.#state === "stopped") return Promise.resolve({ kind: "not-owner" });
    return this.#requests.handle(request, signal);
  }

  /** A request with many answers. */
  stream(request: NodeRequest, signal?: AbortSignalLike): Promise<NodeStream> {
    if (this.#state === "stopped")
      return Promise.resolve({ reply: { kind: "not-owner" }, items: (async function* none() {})() });
    return this.#requests.stream(request, signal);
  }

  /** Would a request for this replica be admitted right now? */
  check(replica: ReplicaKey): boolean {
    return this.#state !== "stopped" && this.#requests.check(replica);
  }

  /** Would a write be admitted by this replica as its shard's primary right now? */
  checkWrite(replica: ReplicaKey): boolean {
    return this.#state !== "stopped" && this.#requests.checkWrite(replica);
  }

  *held(): Iterable<{ replica: ReplicaKey; epoch: Epoch; phase: string }> {
    for (const { key, hold } of this.#host.machine.locals())
      if (hold) yield { replica: key, epoch: hold.epoch, phase: hold.phase };
  }

  /** Changes what the member key says of this node, e.g. its capacity. */
  update(change: Parameters<Membership["update"]>[0]): void {
    this.#membership.update(change);
  }

  /** Who holds a shard, since when, and why, as this node sees it. */
  explain(service: string, shard: string): Explanation | undefined {
    const { image } = this.mirror;
    const { keys, decisions } = this;
    const plan = this.#host.machine.plan(service);
    return explain(
      {
        keys,
        plan,
        get: (key) => image.get(key),
        entries: () => image.entries(),
        decisions: (replica) => decisions.of(replica),
      },
      service,
      shard,
    );
  }

  /** Plans of a service to look at without following them; undefined when this node does not run the service. */
  planning(service: string): Planning | undefined {
    return this.#balancing.planning(service);
  }

  get manages(): boolean {
    return this.#election.elected(this.#sessions.liveness, this.#ports.clock.now()) !== undefined;
  }

  get host(): HostMachine {
    return this.#host.machine;
  }

  get views(): Views {
    return this.#views;
  }

  /** The auctions or claims of its services, for their counters. */
  get auctions(): Auctions {
    return this.#auctions;
  }

  /** What a service with a list of shards of its own keeps in the store. */
  catalogue(service: string): Catalogue {
    return new Catalogue(service, { keys: this.keys, mirror: this.mirror, committer: this.#committer });
  }

  /** How long the node may still serve if no renewal succeeds from now on. */
  mayServeMs(now: number): number {
    return Math.max(0, (this.#sessions.liveness?.fence.deadline ?? 0) - now);
  }

  get inflight(): number {
    return this.#requests.inflight;
  }

  #listed(fallen: boolean): void {
    this.#eras.observe(fallen);
    this.#soon();
  }

  #imageChanged(changes: readonly ImageChange[]): void {
    if (feed(this.#fed, changes, this.#ports.clock.now())) this.#soon();
  }

  #sessionsChanged(lost: readonly HeldSession[]): void {
    for (const session of lost) this.#decide("session", `the ${session.role} session ${session.id} is gone`);
    this.#soon();
  }

  /** Runs the loop once more, after whatever is going on now. */
  #soon(): void {
    if (this.#scheduled || this.#state === "stopped") return;
    this.#scheduled = true;
    void settled.then(() => {
      this.#scheduled = false;
      this.#loop();
    });
  }

  #loop(): void {
    if (this.#state === "stopped" || this.#state === "new") return;
    const machine = this.#host.machine;
    const eras = this.#eras.machine;
    const sessions = this.#sessions;
    const leaving = this.#state === "leaving";
    this.#eras.tick();
    if (eras.current !== undefined) sessions.act(sessions.machine.setEra(eras.current));
    sessions.tick();
    const { open } = eras;
    const { liveness } = sessions;
    const { membership } = sessions.machine;
    this.#membership.setDrained(this.mirror.image.get(this.#drainKey) !== undefined);
    if (!leaving || membership) this.#membership.tick(liveness, membership, open);
    this.#views.tick(open, liveness !== undefined && this.mirror.live);
    this.#manager.tick(liveness, open, leaving);
    if (open) this.#balancing.tick(liveness);
    machine.setEra(open);
    machine.setSession(liveness);
    this.#host.step();
    this.#auctions.tick(liveness, open, leaving);
    this.#remember();
    this.#waiting.settle(this.#fatal);
    this.#arm();
  }

  /** Sets the one timer: the earliest time any machine asked for, and a regular look in any case. */
  #arm(): void {
    if (this.#state === "stopped") return;
    const now = this.#ports.clock.now();
    let next = now + Math.max(LOOK_MS, this.terms.renewMs);
    next = sooner(next, this.#sessions.machine.wakeAt(), now);
    next = sooner(next, this.#eras.machine.wakeAt(), now);
    next = sooner(next, this.#membership.wakeAt(), now);
    next = sooner(next, this.#views.wakeAt(), now);
    next = sooner(next, this.#manager.wakeAt(), now);
    next = sooner(next, this.#balancing.wakeAt(), now);
    next = sooner(next, this.#host.machine.wakeAt() ?? Infinity, now);
    next = sooner(next, this.#auctions.wakeAt(), now);
    if (next >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = next;
    this.#timer = this.#ports.clock.after(next - now, () => {
      this.#timerAt = Infinity;
      this.#loop();
    });
  }

  #remember(): void {
    const { memory } = this.#ports;
    if (!memory) return;
    const era = this.#eras.machine.remembered;
    const liveness = this.#sessions.machine.liveness?.id ?? "";
    const membership = this.#sessions.machine.membership?.id ?? "";
    const noted = this.#noted;
    if (era === noted.era && liveness === noted.liveness && membership === noted.membership) return;
    this.#noted = { era, liveness, membership };
    memory.save({ era, sessions: [liveness, membership].filter((id) => id !== "") });
  }

  #until(done: () => boolean): Promise<void> {
    this.#soon();
    return this.#waiting.until(done);
  }

  #die(error: KeelsonError): void {
    this.#fatal ??= error;
    this.#sessions.act(this.#sessions.machine.stop());
    this.#waiting.settle(this.#fatal);
    this.#options.onFatal?.(error);
    this.abandon();
  }

  #stop(): void {
    this.#state = "stopped";
    this.#unsubscribe();
    this.#fed.followers?.leave(this.#options.node, this.#fed);
    if (!this.#ports.mirror) this.mirror.stop();
    this.#committer.stop();
    this.#manager.stop();
    this.#auctions.stop();
    this.#timer?.cancel();
  }

  #decided(action: HostAction & { kind: "decided" }): void {
    this.#decide(action.decision, action.reason, action.replica, action.epoch);
  }

  #decide(kind: DecisionKind, reason: string, replica?: ReplicaKey, epoch?: Epoch): void {
    const decision: Decision = {
      at: this.#ports.clock.wall(),
      node: this.#options.node,
      kind,
      reason,
      ...(replica === undefined ? {} : { replica }),
      ...(epoch === undefined ? {} : { epoch }),
    };
    this.decisions.add(decision);
    this.#options.onDecision?.(decision);
  }
}

/** The earlier of the two, unless the second is due: that machine has just had its turn, and waits for something to happen. */
function sooner(next: number, at: number, now: number): number {
  return at > now && at < next ? at : next;
}
