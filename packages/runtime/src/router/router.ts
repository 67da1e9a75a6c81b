import {
  Breakers,
  EpochMemory,
  RetryBudget,
  TransportError,
  WRITES,
  backoffMs,
  isFresh,
  judge,
  type AbortSignalLike,
  type Clock,
  type Epoch,
  type NodeReply,
  type NodeRequest,
  type NodeStream,
  type Random,
  type Route,
  type RouteTable,
  type Transport,
  type TryFailure,
} from "@keelson/kernel";
import { Journey } from "./journey.ts";
import { ROUTER_OPTIONS, type RouterOptions } from "./options.ts";
import { RouterError } from "./router-error.ts";

export interface RouterRequest {
  readonly service: string;
  readonly shard: string;
  /** This replica and no other; left out, a write goes to whom it belongs and a read to any holder if need be. */
  readonly replica?: number;
  readonly method: string;
  readonly mode: "read" | "write";
  readonly body: unknown;
  readonly timeoutMs: number;
  /** How long to wait for somebody to ask, or to ask again; the whole timeout when left out. One that says less hears sooner that a shard is not held, or is loading. */
  readonly patienceMs?: number;
  /** A write that may be carried out twice: then it is tried again even when its outcome is unknown. */
  readonly idempotent?: boolean;
  readonly trace?: string;
}

export interface RouterAnswer {
  readonly epoch: Epoch;
  readonly body: unknown;
  readonly node: string;
  readonly replica: number;
  readonly tries: number;
}

export interface RouterCounts {
  calls: number;
  redirects: number;
  retries: number;
  /** Answers that were dropped because a later tenure was known. */
  stale: number;
  failures: number;
}

/** An open stream: who answers, under which epoch, and the items. Reading them may throw TransportError or the shard's failure. */
export interface RouterStream extends RouterAnswer {
  readonly items: AsyncIterable<unknown>;
}

/** Sends one try. */
export type Send = (address: string, message: NodeRequest) => Promise<NodeReply>;

/** Where a try goes: a route of the table, or a hint. */
type Target = Pick<Route, "node" | "address" | "replica" | "session">;

/**
 * Brings a request to the holder of its shard and the answer back. It finds the holder in memory; the store is never asked. Most calls are one
 * lookup and one exchange; all that can go wrong is behind `#next`: hints are followed at once, everything else waits with growing pauses or for
 * the table to change, within the deadline and the retry budget. An answer below the greatest epoch that was known when its request left is
 * dropped. What a write's unknown outcome was, it never guesses.
 */
export class Router {
  readonly counts: RouterCounts = { calls: 0, redirects: 0, retries: 0, stale: 0, failures: 0 };
  readonly clock: Clock;
  readonly #table: RouteTable;
  readonly #transport: Transport;
  /** The message knows its own timeout, so it serves as the options too. */
  readonly #send: Send = (address, message) => this.#transport.call(address, message, message);
  readonly #random: Random;
  readonly #options: RouterOptions;
  readonly #budget: RetryBudget;
  readonly #breakers: Breakers;
  readonly #epochs = new EpochMemory();
  #waiting = 0;

  constructor(ports: {
    readonly table: RouteTable;
    readonly transport: Transport;
    readonly clock: Clock;
    readonly random: Random;
    readonly options?: Partial<RouterOptions>;
  }) {
    this.clock = ports.clock;
    this.#table = ports.table;
    this.#transport = ports.transport;
    this.#random = ports.random;
    this.#options = { ...ROUTER_OPTIONS, ...ports.options };
    this.#budget = new RetryBudget(this.#options.budget, ports.clock.now());
    this.#breakers = new Breakers(this.#options.breaker);
  }

  /** Rejects with RouterError, and with whatever the transport throws that is no TransportError: that is a bug. */
  call(request: RouterRequest): Promise<RouterAnswer> {
    return this.#bring(request, request.mode === "read" || request.idempotent === true, this.#send);
  }

  /** A read whose tries are sent by somebody else: together with others', for instance. */
  callThrough(request: RouterRequest, send: Send): Promise<RouterAnswer> {
    return this.#bring(request, true, send);
  }

  /** Opens a stream. Opening it is tried again like a read; once it is open, its end is the caller's affair. */
  async stream(request: RouterRequest, signal?: AbortSignalLike): Promise<RouterStream> {
    const transport = this.#transport;
    if (!transport.stream) throw new Error("this transport has no streams");
    let opened: NodeStream | undefined;
    const answer = await this.#bring(request, true, async (address, message) => {
      opened = await transport.stream!(address, message, { timeoutMs: message.timeoutMs, signal });
      return opened.reply;
    });
    return { ...answer, items: opened!.items };
  }

  async #bring(request: RouterRequest, repeatable: boolean, send: Send): Promise<RouterAnswer> {
    const { service, shard, mode } = request;
    let now = this.clock.now();
    const deadline = now + request.timeoutMs;
    const patience = Math.min(deadline, now + (request.patienceMs ?? Infinity));
    const epochs = this.#epochs.of(service, shard);
    this.counts.calls++;
    this.#budget.deposit();
    let journey: Journey | undefined;
    let target: Target | undefined = this.#choose(request, now);
    if (!target || this.#breakers.passesAt(target.session, now) > now || !(deadline > now)) {
      journey = new Journey();
      target = await this.#whenOpen(request, journey, patience);
      now = this.clock.now();
    }
    for (let tries = 1; ; tries++) {
      const slot = mode === "write" && this.#table.hasPrimaries(service) ? WRITES : target.replica;
      const floor = epochs.floor(slot);
      const leftMs = deadline - now;
      // Pauses end at the deadline, and the clock has gone on since somebody looked at it: a try that has no time left is none.
      if (!(leftMs > 0)) throw this.#late(request, journey ?? new Journey(), target, false);
      const message = messageTo(
        target.replica,
        request,
        repeatable ? Math.min(leftMs, this.#options.tryTimeoutMs) : leftMs,
      );
      this.#breakers.sent(target.session, now);
      let outcome: NodeReply | TransportError;
      try {
        outcome = await send(target.address, message);
        this.#breakers.succeeded(target.session);
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        outcome = error;
        this.#breakers.failed(target.session, this.clock.now());
      }
      if (outcome instanceof TransportError || outcome.kind !== "ok" || !isFresh(outcome.epoch, floor)) {
        journey ??= new Journey();
        journey.tries = tries;
        target = await this.#next(request, journey, target, outcome, floor, { deadline, patience });
        now = this.clock.now();
        continue;
      }
      epochs.see(slot, outcome.epoch);
      const { epoch, body } = outcome;
      return { epoch, body, node: target.node, replica: target.replica, tries };
    }
  }

  /** Where to go after a try that brought no answer, once it is time to go there. Throws when there is nothing left to try. */
  async #next(
    request: RouterRequest,
    journey: Journey,
    from: Target,
    outcome: NodeReply | TransportError,
    floor: Epoch | undefined,
    { deadline, patience }: { readonly deadline: number; readonly patience: number },
  ): Promise<Target> {
    if (!(outcome instanceof TransportError) && outcome.kind === "ok") this.counts.stale++;
    const verdict = judge(outcome, {
      node: from.node,
      address: from.address,
      repeatable: request.mode === "read" || request.idempotent === true,
      mayFollow: journey.redirects < this.#options.redirectsMax,
      floor,
    });
    const now = this.clock.now();
    journey.visit(from.node);
    switch (verdict.kind) {
      case "fail":
        throw this.#give(request, journey, verdict.failure);
      case "follow": {
        const { node, address, replica = from.replica } = verdict.hint;
        const hinted = { node, address, replica, session: address };
        journey.redirects++;
        this.counts.redirects++;
        if (this.#breakers.passesAt(hinted.session, now) <= now && deadline > now) return hinted;
        return this.#whenOpen(request, journey, patience);
      }
      case "retry": {
        journey.last = verdict.failure;
        journey.lastSession = from.session;
        const other = request.mode === "read" ? this.#another(request, journey, now) : undefined;
        if (other && deadline > now && this.#pay(journey)) return other;
        journey.startOver();
        const pauseMs = backoffMs(this.#options.backoff, journey.pauses, this.#random);
        if (patience > now) await this.#pause(request, journey, Math.min(pauseMs, patience - now));
        return this.#whenOpen(request, journey, patience);
      }
    }
  }

  /** Waits until there is a holder that may be asked: its breaker lets a request pass, and the budget pays for it. */
  async #whenOpen(request: RouterRequest, journey: Journey, deadline: number): Promise<Target> {
    for (;;) {
      const now = this.clock.now();
      const target = this.#choose(request, now);
      let opensAt = target ? this.#breakers.passesAt(target.session, now) : Infinity;
      if (!(deadline > now)) throw this.#late(request, journey, target, opensAt > now);
      if (target && opensAt <= now) {
        // Someone who has not been asked yet sees the request for the first time: that is no retry to him.
        if (target.session !== journey.lastSession || this.#pay(journey)) return target;
        opensAt = now + backoffMs(this.#options.backoff, journey.pauses, this.#random);
      }
      // oxlint-disable-next-line no-await-in-loop -- each wait depends on what the last one found.
      await this.#pause(request, journey, Math.min(opensAt, deadline) - now);
    }
  }

  /** Whom to ask, breakers considered where there is a choice. Undefined when nobody is known. */
  #choose(request: RouterRequest, now: number): Route | undefined {
    const { service, shard, replica } = request;
    if (replica !== undefined) return this.#table.lookup(service, shard, replica);
    const first = this.#table.writer(service, shard);
    if (request.mode === "write") return first;
    if (first && this.#breakers.passesAt(first.session, now) <= now) return first;
    const holders = this.#table.holders(service, shard);
    return holders.find((route) => this.#breakers.passesAt(route.session, now) <= now) ?? first ?? holders[0];
  }

  /** Another replica's holder, for a read, that has not been asked since the last pause. */
  #another(request: RouterRequest, journey: Journey, now: number): Route | undefined {
    if (request.replica !== undefined) return undefined;
    const holders = this.#table.holders(request.service, request.shard);
    return holders.find(
      (route) => !journey.visited(route.node) && this.#breakers.passesAt(route.session, now) <= now,
    );
  }

  /** Takes a retry out of the budget; false when there is none to take. What reached no node added no load, and costs nothing. */
  #pay(journey: Journey): boolean {
    journey.starved = journey.last?.reached === true && !this.#budget.withdraw(this.clock.now());
    if (!journey.starved) this.counts.retries++;
    return !journey.starved;
  }

  /** Waits that long, or until the shard's holders change. */
  #pause(request: RouterRequest, journey: Journey, ms: number): Promise<void> {
    if (this.#waiting >= this.#options.waitingMax) {
      const text = `${this.#waiting} calls wait here already: send less, and try again later`;
      throw this.#give(request, journey, { code: "OVERLOADED", text, reached: false, unknown: false });
    }
    this.#waiting++;
    return new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        stopListening();
        this.#waiting--;
        resolve();
      };
      const timer = this.clock.after(ms, end);
      const stopListening = this.#table.onChange(request.service, request.shard, end);
    });
  }

  /** The error for a deadline that has passed: what stood in the way last. */
  #late(request: RouterRequest, journey: Journey, target: Target | undefined, shut: boolean): RouterError {
    const { service, shard, timeoutMs, patienceMs = Infinity } = request;
    const within = `within ${Math.min(timeoutMs, patienceMs)} ms`;
    const late = journey.tries === 0 ? `not even sent ${within}` : `no answer ${within}`;
    let failure: TryFailure = journey.last ?? {
      code: "TIMEOUT",
      text: `${late}: allow more time`,
      reached: false,
      unknown: false,
    };
    if (!target) {
      const what = request.mode === "write" ? "nobody to write to" : "no holder";
      const text = `${what} ${within}: ${this.#table.explainAbsence(service, shard)}; try again`;
      failure = { code: "NO_HOLDER", text, reached: false, unknown: failure.unknown };
    } else if (shut && !journey.last) {
      const text = `node ${target.node} has not answered lately and was not asked ${within}: its shards move when its session ends, try again then`;
      failure = { code: "UNREACHABLE", text, reached: false, unknown: false };
    }
    if (journey.starved && target) {
      const text = `the retry budget is spent, and a retry is needed because ${failure.text}`;
      failure = { ...failure, code: "BUDGET", text };
    }
    return this.#give(request, journey, failure);
  }

  #give(request: RouterRequest, journey: Journey, failure: TryFailure): RouterError {
    this.counts.failures++;
    return new RouterError(request, failure, journey.tries);
  }
}

function messageTo(replica: number, request: RouterRequest, timeoutMs: number): NodeRequest {
  const { service, shard, method, mode, body, trace } = request;
  return trace === undefined
    ? { service, shard, replica, method, mode, body, timeoutMs }
    : { service, shard, replica, method, mode, body, timeoutMs, trace };
}
