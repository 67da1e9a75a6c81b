import {
  StaleEpochError,
  replicaKey,
  shardKey,
  type AbortSignalLike,
  type Clock,
  type Epoch,
  type Hint,
  type Hold,
  type HostMachine,
  type Local,
  type NodeReply,
  type NodeRequest,
  type NodeStream,
  type ReplicaKey,
  type ShardRequest,
  quarantineReason,
} from "@keelson/kernel";
import type { Host } from "./host.ts";
import { ShardStream } from "./shard-stream.ts";
import { EitherSignal } from "./slot.ts";

/** Requests a node works on at once, over all its shards. */
const INFLIGHT_MAX = 20_000;
/** Requests one shard works on at once. */
const SHARD_INFLIGHT_MAX = 4_096;
/** Streams that one shard keeps open at once. */
const SHARD_STREAMS_MAX = 4_096;

/** What comes with a refusal. */
const NO_ITEMS: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** A request that was let in: under which epoch, and how long its caller waits. */
interface Admitted {
  readonly local: Local;
  readonly epoch: Epoch;
  readonly leftMs: number;
}

/**
 * The way of a request through a node: admitted only while the replica is live and its session's deadline lies ahead, and checked again just before
 * the answer leaves. No call to the store, ever.
 */
export class Requests {
  readonly #host: Host;
  readonly #machine: HostMachine;
  readonly #clock: Clock;
  #inflight = 0;

  constructor(host: Host, clock: Clock) {
    this.#host = host;
    this.#machine = host.machine;
    this.#clock = clock;
  }

  get inflight(): number {
    return this.#inflight;
  }

  /** Would the admission check pass right now? */
  check(key: ReplicaKey): boolean {
    const hold = this.#machine.local(key)?.hold;
    return hold !== undefined && this.#admits(hold, this.#clock.now());
  }

  checkWrite(key: ReplicaKey): boolean {
    const hold = this.#machine.local(key)?.hold;
    return hold !== undefined && hold.primary?.phase === "primary" && this.#admits(hold, this.#clock.now());
  }

  handle(request: NodeRequest, signal?: AbortSignalLike): Promise<NodeReply> {
    const key = replicaKey(request.service, request.shard, request.replica);
    const deadline = this.#clock.now() + request.timeoutMs;
    const admitted = this.#admit(key, request, deadline);
    return admitted
      ? this.#serve(request, admitted, signal)
      : this.#handleLater(key, request, deadline, signal);
  }

  /** A request with many answers. It is admitted like any other, but nobody waits for it: when the tenure ends, it ends with MOVED. */
  async stream(request: NodeRequest, signal?: AbortSignalLike): Promise<NodeStream> {
    const key = replicaKey(request.service, request.shard, request.replica);
    const deadline = this.#clock.now() + request.timeoutMs;
    for (;;) {
      const admitted = this.#admit(key, request, deadline);
      if (admitted) return this.#open(request, admitted, signal);
      const refusal = await this.#park(key, request, deadline);
      if (refusal) return { reply: refusal, items: NO_ITEMS };
    }
  }

  async #handleLater(
    key: ReplicaKey,
    request: NodeRequest,
    deadline: number,
    signal: AbortSignalLike | undefined,
  ): Promise<NodeReply> {
    for (;;) {
      const refusal = await this.#park(key, request, deadline);
      if (refusal) return refusal;
      const admitted = this.#admit(key, request, deadline);
      if (admitted) return this.#serve(request, admitted, signal);
    }
  }

  /** Lets the request in if it may be, at this very moment: what is done with it must begin in the same breath. */
  #admit(key: ReplicaKey, request: NodeRequest, deadline: number): Admitted | undefined {
    const local = this.#machine.local(key);
    const now = this.#clock.now();
    const epoch = local?.hold && this.#admission(local, local.hold, request.mode, now);
    return epoch && { local, epoch, leftMs: deadline - now };
  }

  /** Waits until it may be worth asking again; otherwise says why not. */
  async #park(key: ReplicaKey, request: NodeRequest, deadline: number): Promise<NodeReply | undefined> {
    const local = this.#machine.local(key);
    const now = this.#clock.now();
    if (!local || !this.#worthParking(local, request.mode))
      return this.#refuse(key, local, request.mode, now);
    const slot = this.#host.slot(key);
    const { drainMs, commitTimeoutMs, unsureMs, parkedMax } = this.#machine.terms;
    if (slot.parking.size >= parkedMax)
      return { kind: "overloaded", reason: `more than ${parkedMax} requests wait for ${key}` };
    const waitMs = Math.min(deadline - now, drainMs + commitTimeoutMs + unsureMs);
    if (waitMs > 0 && (await slot.parking.wait(this.#clock, waitMs))) return undefined;
    return this.#refuse(key, local, request.mode, this.#clock.now());
  }

  #open(
    request: NodeRequest,
    { local, epoch, leftMs }: Admitted,
    signal: AbortSignalLike | undefined,
  ): NodeStream {
    const slot = this.#host.slot(local.key);
    const { shard, running } = slot;
    if (!shard?.stream) {
      const message = `service ${request.service} answers ${request.method} once, not with a stream`;
      return { reply: { kind: "error", code: "BAD_REQUEST", message }, items: NO_ITEMS };
    }
    if (slot.streams >= SHARD_STREAMS_MAX) {
      const reason = `${slot.streams} streams are open on ${local.key}`;
      return { reply: { kind: "overloaded", reason }, items: NO_ITEMS };
    }
    const hold = local.hold!;
    const either = signal ? new EitherSignal(signal, running) : running;
    const items = shard.stream(shardRequest(request, epoch, either, leftMs));
    return {
      reply: { kind: "ok", epoch, body: null },
      items: new ShardStream(items, slot, either, () => this.#mayAnswer(local, hold)),
    };
  }

  async #serve(
    request: NodeRequest,
    { local, epoch, leftMs }: Admitted,
    signal: AbortSignalLike | undefined,
  ): Promise<NodeReply> {
    const slot = this.#host.slot(local.key);
    const hold = local.hold!;
    const shard = slot.shard;
    if (!shard) throw new Error(`${local.key} is live without a shard`);
    if (this.#inflight >= INFLIGHT_MAX || slot.inflight >= SHARD_INFLIGHT_MAX) {
      return {
        kind: "overloaded",
        reason: `${slot.inflight} requests are under way on ${local.key}, ${this.#inflight} on this node`,
      };
    }
    this.#inflight++;
    slot.enter();
    try {
      const either = signal ? new EitherSignal(signal, slot.running) : slot.running;
      const body = await shard.handle(shardRequest(request, epoch, either, leftMs));
      return this.#mayAnswer(local, hold) ? { kind: "ok", epoch, body } : unsure(request);
    } catch (error) {
      if (error instanceof StaleEpochError) return { kind: "not-owner" };
      if (!this.#mayAnswer(local, hold)) return unsure(request);
      const code =
        error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "INTERNAL";
      return { kind: "error", code, message: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#inflight--;
      slot.exit();
    }
  }

  #admission(local: Local, hold: Hold, mode: "read" | "write", now: number): Epoch | undefined {
    if (!this.#admits(hold, now)) return undefined;
    if (mode === "read" || !this.#machine.service(local).primary) return hold.epoch;
    return hold.primary?.phase === "primary" ? hold.primary.epoch : undefined;
  }

  #admits(hold: Hold, now: number): boolean {
    const { rules } = this.#machine;
    const serving =
      hold.phase === "live" ||
      (!rules.stopBeforeCommit && (hold.phase === "moving" || hold.phase === "unsure"));
    return serving && (hold.fence.passes(now) || !rules.selfFencing);
  }

  /** What was admitted under a tenure may be answered while that tenure is live or draining, and its deadline lies ahead. */
  #mayAnswer(local: Local, hold: Hold): boolean {
    if (!this.#machine.rules.selfFencing) return true;
    return (
      local.hold === hold &&
      (hold.phase === "live" || hold.phase === "draining") &&
      hold.fence.passes(this.#clock.now())
    );
  }

  /** The replica will be live here in a moment, or somebody is about to hand it to us. */
  #worthParking(local: Local, mode: "read" | "write"): boolean {
    const hold = local.hold;
    if (!hold) {
      const facts = this.#machine.facts.replica(local.key, this.#clock.now());
      return (
        facts.contenders.get(this.#machine.self.node)?.value.phase === "ready" && facts.tenure !== undefined
      );
    }
    if (!hold.fence.passes(this.#clock.now())) return false;
    if (hold.phase === "live") return mode === "write" && hold.primary?.phase === "promoting";
    return (
      (hold.phase === "waiting" || hold.phase === "activating") &&
      local.data === "prepared" &&
      local.failures === 0
    );
  }

  #refuse(key: ReplicaKey, local: Local | undefined, mode: "read" | "write", now: number): NodeReply {
    if (!local) return { kind: "not-owner" };
    const why = quarantineReason(this.#machine, local, now);
    const hold = local.hold;
    if (why !== undefined && !hold) return { kind: "quarantined", reason: why };
    if (hold && (hold.phase === "waiting" || hold.phase === "activating" || hold.phase === "restamping")) {
      return { kind: "warming", progress: local.data === "prepared" ? 1 : local.progress };
    }
    const hint = this.#hint(key, local, mode, now);
    return hint ? { kind: "not-owner", hint } : { kind: "not-owner" };
  }

  #hint(key: ReplicaKey, local: Local, mode: "read" | "write", now: number): Hint | undefined {
    if (local.hold?.to) return { node: local.hold.to.node, address: local.hold.to.address };
    const facts = this.#machine.facts;
    if (mode === "write" && this.#machine.service(local).primary) {
      const primary = facts.shard(shardKey(local.id.service, local.id.shard), now).primary?.value;
      return primary && primary.node !== this.#machine.self.node
        ? { node: primary.node, address: primary.address, replica: primary.replica }
        : undefined;
    }
    const tenure = facts.replica(key, now).tenure?.value;
    return tenure && tenure.node !== this.#machine.self.node
      ? { node: tenure.node, address: tenure.address }
      : undefined;
  }
}

function shardRequest(
  { method, mode, body, trace, left }: NodeRequest,
  epoch: Epoch,
  signal: AbortSignalLike,
  timeoutMs: number,
): ShardRequest {
  return { method, mode, body, epoch, signal, timeoutMs, trace, left };
}

/** The tenure ended while the request ran. A read may go elsewhere; a write may have been carried out. */
function unsure(request: NodeRequest): NodeReply {
  if (request.mode === "read") return { kind: "not-owner" };
  return {
    kind: "error",
    code: "OUTCOME_UNKNOWN",
    message: "the shard moved while the request ran; it may have been carried out",
  };
}
