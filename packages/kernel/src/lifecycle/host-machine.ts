import { compareEpochs, type Epoch } from "../identity/epoch.ts";
import { parseReplicaKey, serviceOf, shardKey, type Keys, type ReplicaKey } from "../identity/keys.ts";
import type { Plan, PlanLine } from "../placement/plan.ts";
import { roleOf } from "../placement/plan-roles.ts";
import type { Award } from "../auction/records.ts";
import { Intents } from "../movement/intents.ts";
import type { OpenEra } from "../tenure/era-machine.ts";
import type { HeldSession } from "../membership/session-machine.ts";
import type { Rules } from "../tenure/rules.ts";
import type { Contender, Primary, Tenure } from "../tenure/tenure.ts";
import type { Terms } from "../tenure/terms.ts";
import { WakeQueue } from "../time/wake-queue.ts";
import type { Random } from "../time/clock.ts";
import { Facts, type Known, type TenureSource } from "./facts.ts";
import { adoptOrLose } from "./adopting.ts";
import { commitReported } from "./commit-reports.ts";
import { contend } from "./contending.ts";
import { reconcileHold, standDownIfOpen } from "./holding.ts";
import { firstPatienceMs, firstStepMs, grantOrWait, waitsOn } from "./granting.ts";
import type { CommitPurpose, CommitReport, HostAction } from "./host-actions.ts";
import { isPlanned, type HostIdentity, type HostedService } from "./hosted.ts";
import { isMoving, newLocal, type Hold, type Local } from "./local.ts";
import { OpenQueue } from "./open-queue.ts";
import { openFailed, startOpens } from "./opening.ts";
import { Plans } from "./plans.ts";
import { reconcilePrimary } from "./primary.ts";
import { StandBys } from "./stand-bys.ts";
import { targetLine } from "./target.ts";
import type { Trouble } from "./trouble.ts";

/**
 * Turns facts (plan, tenures, contenders, session, era) into the next step for each replica on this node. It is level-triggered: whatever
 * happened, `reconcile` looks at what is true now and decides, so that a lost, late or repeated event cannot derail it.
 * Pure: it acts only through the actions it returns.
 */
export class HostMachine {
  readonly self: HostIdentity;
  readonly keys: Keys;
  readonly terms: Terms;
  readonly rules: Rules;
  readonly random: Random;
  /** Wall clock, for the records that people read. */
  readonly wall: () => number;
  readonly intents: Intents;
  readonly facts: Facts;
  readonly opens: OpenQueue;

  readonly #services: ReadonlyMap<string, HostedService>;
  readonly #locals = new Map<ReplicaKey, Local>();
  readonly #standBys = new StandBys();
  readonly #plans = new Plans();
  readonly #members = new Set<string>();
  readonly #dirty = new Set<ReplicaKey>();
  readonly #wakes = new WakeQueue();
  /** What waits for a session that lets this node serve. */
  readonly #sessionless = new Set<ReplicaKey>();
  /** Services that cannot work on this node for now, and why. */
  readonly #suspended = new Map<string, string>();
  /** Some service has primaries. */
  readonly #primaries: boolean;
  #actions: HostAction[] = [];
  /** Replicas on their way from this node to another, bounded by `movesMax`. */
  #moves = 0;

  liveness: HeldSession | undefined;
  era: OpenEra | undefined;
  leavingSince: number | undefined;
  /** When this node last found that it looked much later than it had wanted to: what others did meanwhile it has yet to hear. */
  stoodStillAt = -Infinity;

  constructor(options: {
    self: HostIdentity;
    keys: Keys;
    terms: Terms;
    rules: Rules;
    random: Random;
    wall: () => number;
    services: ReadonlyMap<string, HostedService>;
    /** Saves keeping what the copy of the store has. Without it everything that is told is kept, as auctions and claims need it. */
    source?: TenureSource;
  }) {
    this.self = options.self;
    this.keys = options.keys;
    this.terms = options.terms;
    this.rules = options.rules;
    this.random = options.random;
    this.wall = options.wall;
    this.#services = options.services;
    this.#primaries = [...options.services.values()].some(({ primary }) => primary);
    this.facts = new Facts([...options.services.values()].every(isPlanned) ? options.source : undefined);
    this.intents = new Intents(options.keys, options.rules);
    this.opens = new OpenQueue(options.terms.opensMax, options.terms.activationsMax);
  }

  // What is known. Each marks what it touches; nothing is decided before `step`.

  setSession(liveness: HeldSession | undefined): void {
    if (this.liveness?.id === liveness?.id) return;
    this.liveness = liveness;
    this.#touchAll();
  }

  setEra(era: OpenEra | undefined): void {
    if (this.era?.era === era?.era && this.era?.revision === era?.revision) return;
    this.era = era;
    this.#touchAll();
  }

  setPlan(service: string, plan: Plan, now: number): void {
    this.#plans.set(service, plan, now);
    this.#touchService(service);
    this.#standBys.clear(service);
    const { first, later } = roleOf(plan, this.self.node);
    for (const key of first) this.#local(key);
    // A lower rank has nothing to do before those before it had their time; until then it is not even looked at.
    const at = now + firstStepMs(this.terms);
    // Plans may change faster than that, and would put it off for ever: what has waited for long is looked at.
    const longSince = now - firstPatienceMs(this.terms);
    for (const key of later) {
      if (this.#locals.has(key)) continue;
      const { tenure, since } = this.facts.replica(key, now);
      if (!tenure && since < longSince) this.#local(key);
      else this.#standBys.add(key, tenure ? Infinity : at);
    }
  }

  setMember(node: string, present: boolean): void {
    if (present) this.#members.add(node);
    else this.#members.delete(node);
  }

  setTenure(key: ReplicaKey, tenure: Known<Tenure> | undefined, lost: boolean, now: number): void {
    const kept = this.facts.setTenure(key, tenure, lost, now);
    const elsewhere = tenure !== undefined && tenure.value.node !== this.self.node;
    // Of most replicas of a fleet a node is no candidate: nearly all news ends here.
    if (!kept && !this.#primaries && (elsewhere || !tenure)) return;
    if (elsewhere && this.#standBys.has(key)) this.#standBys.held(key);
    else if (tenure && !elsewhere) this.#dirty.add(this.#local(key).key);
    else this.touch(key);
    if (this.#primaries && this.#services.get(serviceOf(key))?.primary) this.#touchShard(key);
  }

  setContender(key: ReplicaKey, node: string, contender: Known<Contender> | undefined, now: number): void {
    const kept = this.facts.setContender(key, node, contender, now);
    // Another's contender concerns the holder, and whoever might become it.
    if (!kept && node !== this.self.node) return;
    if (node === this.self.node || this.#locals.get(key)?.hold || !this.facts.known(key)?.tenure)
      this.touch(key);
  }

  setAward(key: ReplicaKey, award: Known<Award> | undefined, now: number): void {
    this.facts.setAward(key, award, now);
    if (award?.value.node === this.self.node) this.#local(key);
    this.touch(key);
  }

  setPrimary(shard: string, primary: Known<Primary> | undefined, now: number): void {
    this.facts.setPrimary(shard, primary, now);
    this.#touchShard(`${shard}/`);
  }

  setTrouble(shard: string, trouble: Known<Trouble> | undefined, now: number): void {
    this.facts.setTrouble(shard, trouble, now);
    this.#touchShard(`${shard}/`);
  }

  /** The service cannot work on this node for now: what is held of it is given up, and held against no shard, and nothing is taken until `resume`. */
  suspend(service: string, reason: string, now: number): void {
    this.#suspended.set(service, reason);
    this.#touchService(service);
    // At once, and not when it is looked at: the service may be resumed by then, and what was open has failed.
    for (const local of this.#locals.values())
      if (local.id.service === service && local.hold) standDownIfOpen(this, local, local.hold, now);
  }

  /** It can again. What failed here before is forgotten. */
  resume(service: string): void {
    if (!this.#suspended.delete(service)) return;
    for (const local of this.#locals.values()) {
      if (local.id.service !== service) continue;
      local.failures = 0;
      local.retryAt = -Infinity;
    }
    this.#touchService(service);
  }

  leave(now: number): void {
    this.leavingSince ??= now;
    this.#touchAll();
  }

  // What became of actions.

  prepared(key: ReplicaKey): void {
    const local = this.#local(key);
    this.opens.done(key);
    local.data = local.data === "cancelling" ? "cancelling" : "prepared";
    if (local.data === "cancelling") {
      local.data = "none";
      this.emit({ kind: "discard", replica: key });
    }
    this.touch(key);
  }

  prepareFailed(key: ReplicaKey, message: string, now: number): void {
    const local = this.#local(key);
    this.opens.done(key);
    const cancelled = local.data === "cancelling";
    local.data = "none";
    if (!cancelled && this.suspension(local) === undefined) openFailed(this, local, message, now);
    this.touch(key);
  }

  progress(key: ReplicaKey, fraction: number): void {
    this.#local(key).progress = fraction;
  }

  activated(key: ReplicaKey, epoch: Epoch, now: number): void {
    const local = this.#local(key);
    this.opens.done(key);
    local.shard = "open";
    const hold = local.hold;
    if (hold && compareEpochs(hold.epoch, epoch) === 0 && hold.phase === "activating") {
      this.phase(hold, "live", now);
      local.failures = 0;
      this.emit({ kind: "live", replica: key });
      this.decide("live", local, epoch, "activated");
    } else this.closeShard(local);
    this.touch(key);
  }

  activateFailed(key: ReplicaKey, epoch: Epoch, message: string, now: number): void {
    const local = this.#local(key);
    this.opens.done(key);
    const hold = local.hold;
    if (hold && compareEpochs(hold.epoch, epoch) === 0 && hold.phase === "activating") {
      if (this.suspension(local) === undefined) openFailed(this, local, message, now);
      else this.phase(hold, "releasing", now);
      // What the failed try left under way carries this epoch: only a new epoch makes it harmless.
      if (hold.phase === "activating") {
        this.phase(hold, this.rules.adoptOnce ? "restamping" : "waiting", now);
        hold.retryAt = local.retryAt;
      }
    }
    this.touch(key);
  }

  drained(key: ReplicaKey): void {
    const hold = this.#local(key).hold;
    if (hold?.phase === "draining") hold.busy = false;
    this.touch(key);
  }

  closed(key: ReplicaKey): void {
    this.#local(key).shard = "none";
    this.touch(key);
  }

  promoted(key: ReplicaKey, epoch: Epoch, failure: string | undefined): void {
    const local = this.#local(key);
    const primary = local.hold?.primary;
    if (primary && compareEpochs(primary.epoch, epoch) === 0 && primary.phase === "promoting") {
      primary.phase = failure === undefined ? "primary" : "giving-up";
      if (failure === undefined) this.decide("promoted", local, epoch, "writes are admitted");
      else this.decide("failed", local, epoch, `promotion failed: ${failure}`);
    }
    this.touch(key);
  }

  /** The outcome of a commit. What it wrote has already been told through the setters above. */
  committed(
    purpose: CommitPurpose,
    key: ReplicaKey,
    epoch: Epoch | undefined,
    report: CommitReport,
    now: number,
  ): void {
    commitReported(this, this.#local(key), purpose, epoch, report, now);
    this.touch(key);
  }

  /** Decides everything that is due and returns what to do. */
  step(now: number): HostAction[] {
    const wakeAt = this.#nextWake();
    if (wakeAt !== undefined && now - wakeAt > this.terms.takeoverStepMs / 2) this.stoodStillAt = now;
    for (const key of this.#wakes.due(now)) this.#dirty.add(key);
    for (const key of this.#standBys.due(now)) {
      if (waitsOn(this, key, now)) this.#standBys.add(key, now + firstStepMs(this.terms));
      else this.#local(key);
    }
    if (this.#sessionless.size > 0 && this.session(now)) {
      for (const key of this.#sessionless) this.#dirty.add(key);
      this.#sessionless.clear();
    }
    for (let round = 0; this.#dirty.size > 0 && round < 8; round++) {
      const keys = [...this.#dirty];
      this.#dirty.clear();
      for (const key of keys) this.#reconcile(this.#local(key), now);
      startOpens(this, now);
    }
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** Something was told since the last step that it has to decide about. */
  get touched(): boolean {
    return this.#dirty.size > 0;
  }

  wakeAt(): number | undefined {
    return this.#dirty.size > 0 ? -Infinity : this.#nextWake();
  }

  /** What this node has to do with a replica: undefined when nothing. Of one that it only stands by for, what there is to say; to ask changes nothing. */
  local(key: ReplicaKey): Local | undefined {
    return this.#locals.get(key) ?? (this.#standBys.has(key) ? newLocal(key) : undefined);
  }

  locals(): Iterable<Local> {
    return this.#locals.values();
  }

  /** Nothing is held and nothing is open: a leaving node may go. */
  idle(): boolean {
    for (const local of this.#locals.values())
      if (local.hold || local.shard !== "none" || local.granting) return false;
    return true;
  }

  // For the parts of the machine in the sibling files.

  emit(action: HostAction): void {
    this.#actions.push(action);
  }

  decide(
    decision: (HostAction & { kind: "decided" })["decision"],
    local: Local,
    epoch: Epoch | undefined,
    reason: string,
  ): void {
    this.#actions.push({ kind: "decided", decision, replica: local.key, epoch, reason });
  }

  touch(key: ReplicaKey): void {
    if (this.#locals.has(key)) this.#dirty.add(key);
    else if (this.#standBys.has(key)) this.#local(key);
  }

  /** Look at this replica again at `at`, at the latest. */
  wake(local: Local, at: number): void {
    this.#wakes.sooner(local.key, at);
  }

  /** Look at this replica again as soon as there is a session that lets us serve: a renewal brings it, and is always followed by a step. */
  awaitSession(local: Local): void {
    this.#sessionless.add(local.key);
  }

  phase(hold: Hold, phase: Hold["phase"], now: number): void {
    const moved = isMoving(phase);
    if (isMoving(hold.phase) !== moved) this.#moves += moved ? 1 : -1;
    hold.phase = phase;
    hold.since = now;
    hold.tries = 0;
    hold.busy = false;
    hold.retryAt = -Infinity;
  }

  mayMove(): boolean {
    return this.#moves < this.terms.movesMax;
  }

  /** Puts another hold, or none, in the place of the present one. */
  setHold(local: Local, hold: Hold | undefined): void {
    const former = local.hold;
    if (former && isMoving(former.phase)) this.#moves--;
    if (former?.primary) this.emit({ kind: "demote", replica: local.key });
    local.hold = hold;
    local.sentGrant = undefined;
  }

  /** The hold is over; the shard is closed, the data stays prepared. */
  drop(local: Local): void {
    this.setHold(local, undefined);
    this.opens.forget(local.key);
    this.closeShard(local);
    this.#dirty.add(local.key);
  }

  /** How long to wait after `tries` tries: doubling, bounded, jittered. */
  pause(tries: number): number {
    return Math.min(2_000, 25 * 2 ** Math.min(tries, 10)) * (0.5 + 0.5 * this.random());
  }

  closeShard(local: Local): void {
    if (local.shard !== "open") return;
    local.shard = "closing";
    this.emit({ kind: "close", replica: local.key });
  }

  /** Where a replica should be, and who comes after: as the plan says, or for auctions and claims as the store does. */
  line(local: Local): PlanLine | undefined {
    const planned = this.#plans.line(local);
    return planned && !this.followsPlan(local) ? this.lineOf(local.key, local.id.service) : planned;
  }

  lineOf(key: ReplicaKey, service: string): PlanLine | undefined {
    const planned = this.#plans.get(service)?.lines.get(key);
    if (!planned || isPlanned(this.#services.get(service))) return planned;
    const facts = this.facts.known(key);
    return facts ? targetLine(facts) : planned;
  }

  /** Does the service still have this replica? While no plan is known, yes. */
  isListed(local: Local): boolean {
    return this.#plans.line(local) !== undefined || !this.#plans.get(local.id.service);
  }

  /** Is it the plan's word that grants and moves this replica? Otherwise auctions or claims do. */
  followsPlan(local: Local): boolean {
    return isPlanned(this.#services.get(local.id.service));
  }

  /** Why the replica's service cannot work here for now; undefined when it can. */
  suspension(local: Local): string | undefined {
    return this.suspensionOf(local.id.service);
  }

  suspensionOf(service: string): string | undefined {
    return this.#suspended.get(service);
  }

  plan(service: string): Plan | undefined {
    return this.#plans.get(service);
  }

  planSince(service: string): number {
    return this.#plans.since(service);
  }

  service(local: Local): HostedService {
    return this.#services.get(local.id.service) ?? { builds: false, primary: false };
  }

  isMember(node: string): boolean {
    return this.#members.has(node);
  }

  /** The session that grants, hand-overs and contender keys of ours are bound to, while it lets us serve. */
  session(now: number): HeldSession | undefined {
    const session = this.liveness;
    return session && this.era && session.era === this.era.era && session.fence.passes(now)
      ? session
      : undefined;
  }

  #reconcile(local: Local, now: number): void {
    this.#wakes.set(local.key, undefined);
    const facts = this.facts.replica(local.key, now);
    adoptOrLose(this, local, facts.tenure, now);
    if (local.hold) {
      reconcileHold(this, local, local.hold, facts, now);
      if (local.hold && this.service(local).primary) reconcilePrimary(this, local, local.hold, now);
    } else grantOrWait(this, local, facts, now);
    contend(this, local, facts, now);
  }

  /** What this node has to do with a replica; one that is new is looked at. */
  #local(key: ReplicaKey): Local {
    let local = this.#locals.get(key);
    if (local) return local;
    local = newLocal(key);
    this.#standBys.forget(key);
    this.#locals.set(key, local);
    this.#dirty.add(key);
    return local;
  }

  #nextWake(): number | undefined {
    const [wake, standBy] = [this.#wakes.next(), this.#standBys.next()];
    return wake === undefined || (standBy !== undefined && standBy < wake) ? standBy : wake;
  }

  /** Those that it only stands by for are looked at when their time comes, whatever is true then. */
  #touchAll(): void {
    for (const key of this.#locals.keys()) this.#dirty.add(key);
  }

  #touchService(service: string): void {
    for (const [key, local] of this.#locals) if (local.id.service === service) this.#dirty.add(key);
  }

  #touchShard(replicaOrShardPrefix: string): void {
    const { service, shard } = parseReplicaKey(replicaOrShardPrefix);
    const replicas = this.#plans.get(service)?.parameters.replicas ?? 1;
    for (let r = 0; r < replicas; r++) this.touch(`${shardKey(service, shard)}/${r}`);
  }
}
