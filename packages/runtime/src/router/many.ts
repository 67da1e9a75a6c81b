/**
 * One read of many shards. Each goes the way that every request goes (breakers, retries, epochs, patience), but tries that leave for the same node at the same
 * moment leave as one exchange: a read of two hundred shards on eight nodes is eight exchanges. Answers come in the order in which they are done; what fails is
 * listed with its reason.
 */
import {
  TransportError,
  type Clock,
  type NodeManyRequest,
  type NodeReply,
  type NodeRequest,
  type Transport,
} from "@keelson/kernel";
import { MANY_REPLICAS_MAX } from "@keelson/wire";
import { RouterError } from "./router-error.ts";
import type { Router, RouterRequest } from "./router.ts";
import type { MissingPart, Part } from "./scatter.ts";

export interface ManyRequest extends Omit<RouterRequest, "shard" | "replica" | "mode" | "idempotent"> {
  readonly shards: readonly string[];
  /** Ends it early: what is under way is cancelled on the nodes too. */
  readonly signal?: AbortSignal | undefined;
}

/** Shards under way at once; more are begun when half of them are done, so that they leave together. */
const UNDER_WAY_MAX = 8_192;
/** How long tries that go to the same node again wait for one another. */
const GATHER_MS = 1;

export async function* many(
  ports: { readonly router: Pick<Router, "callThrough" | "clock">; readonly transport: Transport },
  request: ManyRequest,
): AsyncGenerator<Part | MissingPart, void> {
  const { shards, signal, ...rest } = request;
  const { router } = ports;
  let wake: () => void = () => undefined;
  const sender = new ManySender(ports.transport, router.clock);
  const end = (): void => {
    sender.end();
    wake();
  };
  if (signal?.aborted === true) return;
  signal?.addEventListener("abort", end, { once: true });
  const deadline = router.clock.now() + request.timeoutMs;
  const ready: (Part | MissingPart)[] = [];
  let next = 0;
  let underWay = 0;
  let bug: { readonly error: unknown } | undefined;
  const ask = async (shard: string): Promise<void> => {
    const timeoutMs = deadline - router.clock.now();
    try {
      const { epoch, body } = await router.callThrough(
        { ...rest, shard, mode: "read", timeoutMs },
        sender.send,
      );
      ready.push({ shard, epoch, body });
    } catch (error) {
      if (error instanceof RouterError) ready.push({ shard, code: error.code, why: error.message });
      else bug ??= { error };
    }
    underWay--;
    wake();
  };
  const begin = (): void => {
    if (underWay > UNDER_WAY_MAX / 2) return;
    for (; underWay < UNDER_WAY_MAX && next < shards.length; next++) {
      underWay++;
      void ask(shards[next]!);
    }
  };
  try {
    begin();
    while (underWay > 0 || ready.length > 0) {
      if (ready.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (bug) throw bug.error;
      // Several may have answered at once.
      yield* ready.splice(0);
      if (sender.ended) return;
      begin();
    }
  } finally {
    signal?.removeEventListener("abort", end);
    sender.end();
  }
}

/** Not tried again: nobody waits for it. */
const CANCELLED: NodeReply = { kind: "error", code: "CANCELLED", message: "the caller no longer waits" };

interface Waiting {
  readonly message: NodeRequest;
  readonly resolve: (reply: NodeReply) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects what is sent in one turn, and sends it by address. All messages of one sender differ in their shard, their replica and their time alone. */
class ManySender {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  #collected = new Map<string, Waiting[]>();
  #flushes = 0;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  readonly send = (address: string, message: NodeRequest): Promise<NodeReply> => {
    if (this.ended) return Promise.resolve(CANCELLED);
    // A transport that cannot, and one message alone, need nothing of this.
    if (!this.#transport.many) return this.#transport.call(address, message, message);
    return new Promise((resolve, reject) => {
      const waiting = { message, resolve, reject };
      if (this.#collected.size === 0) this.#flushSoon();
      const others = this.#collected.get(address);
      if (others) others.push(waiting);
      else this.#collected.set(address, [waiting]);
    });
  };

  get ended(): boolean {
    return this.#ending.signal.aborted;
  }

  end(): void {
    this.#ending.abort();
  }

  /** What is asked first is asked in one breath. What is tried again comes back piece by piece, so it is waited for a moment. */
  #flushSoon(): void {
    if (this.#flushes++ === 0) queueMicrotask(() => this.#flush());
    else this.#clock.after(GATHER_MS, () => this.#flush());
  }

  #flush(): void {
    const collected = this.#collected;
    this.#collected = new Map();
    for (const [address, waiting] of collected)
      for (let at = 0; at < waiting.length; at += MANY_REPLICAS_MAX)
        void this.#exchange(address, waiting.slice(at, at + MANY_REPLICAS_MAX));
  }

  /** Never rejects: every one that waits hears what became of it. */
  async #exchange(address: string, waiting: readonly Waiting[]): Promise<void> {
    const { shard: _, replica: __, ...common } = waiting[0]!.message;
    const request: NodeManyRequest = {
      ...common,
      replicas: waiting.map(({ message: { shard, replica } }) => ({ shard, replica })),
    };
    const { timeoutMs } = common;
    const stop = new AbortController();
    const ending = this.#ending.signal;
    const open = new Set(waiting);
    const left = (): void => {
      for (const { resolve } of open) resolve(CANCELLED);
      open.clear();
      stop.abort();
    };
    ending.addEventListener("abort", left, { once: true });
    let late: TransportError | undefined;
    const timer = this.#clock.after(timeoutMs, () => {
      late = new TransportError("TIMEOUT", `no answer within ${Math.ceil(timeoutMs)} ms`);
      stop.abort();
    });
    try {
      if (ending.aborted) left();
      for await (const { at, reply } of this.#transport.many!(address, request, {
        timeoutMs,
        signal: stop.signal,
      })) {
        if (stop.signal.aborted) break;
        const answered = waiting[at];
        if (answered && open.delete(answered)) answered.resolve(reply);
      }
      fail(open, late ?? new TransportError("CUT", "the exchange ended before this shard was answered"));
    } catch (error) {
      fail(open, late ?? error);
    } finally {
      timer.cancel();
      ending.removeEventListener("abort", left);
    }
  }
}

function fail(open: ReadonlySet<Waiting>, error: unknown): void {
  for (const { reject } of open) reject(error);
}
