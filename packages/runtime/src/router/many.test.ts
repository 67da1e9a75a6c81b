import { TransportError, type ManyReply, type NodeManyRequest, type Transport } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { describe, expect, test } from "vitest";
import { many, type ManyRequest } from "./many.ts";
import { RouterError } from "./router-error.ts";
import type { RouterAnswer, RouterRequest, Send } from "./router.ts";
import type { MissingPart, Part } from "./scatter.ts";

interface Place {
  readonly at: string;
  readonly answer?: "ok" | "moved" | "late";

  readonly movedTo?: string;
}

/** Shards on nodes, a router that looks them up and follows one hint, and a transport that counts what it is given. */
class Fleet implements Transport {
  readonly clock = new ManualClock();
  readonly exchanges: NodeManyRequest[] = [];
  readonly addresses: string[] = [];
  cancelled = 0;
  cut: string | undefined;
  readonly #shards: Readonly<Record<string, Place>>;

  constructor(shards: Readonly<Record<string, Place>>) {
    this.#shards = shards;
  }

  call(): never {
    throw new Error("one by one was not asked for");
  }

  async callThrough(request: RouterRequest, send: Send): Promise<RouterAnswer> {
    const { shard, timeoutMs, method, mode, body, service } = request;
    const message = { service, shard, replica: 0, method, mode, body, timeoutMs };
    let address = this.#shards[shard]!.at;
    for (let tries = 1; ; tries++) {
      let reply;
      try {
        reply = await send(address, message);
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        throw new RouterError(request, { code: error.code, text: error.message, unknown: false }, tries);
      }
      if (reply.kind === "ok") return { ...reply, node: address, replica: 0, tries };
      if (reply.kind === "error")
        throw new RouterError(request, { code: reply.code, text: reply.message, unknown: false }, tries);
      address = this.#shards[shard]!.movedTo!;
    }
  }

  async *many(
    address: string,
    request: NodeManyRequest,
    {
      signal,
    }: {
      signal?:
        | { readonly aborted: boolean; addEventListener(type: "abort", f: () => void): void }
        | undefined;
    },
  ): AsyncGenerator<ManyReply> {
    this.exchanges.push(request);
    this.addresses.push(address);
    await Promise.resolve();
    if (this.cut === address) throw new TransportError("CUT", "gone");
    const late = [];
    for (const [at, { shard }] of request.replicas.entries()) {
      const { answer = "ok", at: home } = this.#shards[shard]!;
      if (answer === "late") late.push(at);
      else if (answer === "moved" && home === address) yield { at, reply: { kind: "not-owner" } };
      else yield { at, reply: { kind: "ok", epoch: { era: 1, revision: 1 }, body: `${shard}@${address}` } };
    }
    if (late.length === 0) return;
    await new Promise<void>((resolve) => signal?.addEventListener("abort", resolve));
    this.cancelled++;
  }

  ask(shards: readonly string[], change: Partial<ManyRequest> = {}): AsyncIterable<Part | MissingPart> {
    const request = { service: "s", method: "find", body: "q", timeoutMs: 1_000, shards, ...change };
    return many({ router: this, transport: this }, request);
  }
}

async function all(parts: AsyncIterable<Part | MissingPart>): Promise<string[]> {
  const found: string[] = [];
  for await (const part of parts)
    found.push("body" in part ? String(part.body) : `${part.shard}: ${part.code}`);
  return found.sort();
}

const spread = (count: number, nodes: number): Record<string, { at: string }> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i), { at: `n${i % nodes}` }]));

describe("a read of many shards", () => {
  test("is one exchange with each node, and every shard answers once", async () => {
    const fleet = new Fleet(spread(200, 8));
    const found = await all(fleet.ask(Array.from({ length: 200 }, (_, i) => String(i))));
    expect(fleet.addresses.sort()).toEqual(["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"]);
    expect(new Set(found).size).toBe(200);
  });

  test("sends those that moved on together", async () => {
    const shards = Object.fromEntries(
      ["a", "b", "c"].map((name) => [name, { at: "old", answer: "moved" as const, movedTo: "new" }]),
    );
    const fleet = new Fleet({ ...shards, d: { at: "old" } });
    const found = all(fleet.ask(["a", "b", "c", "d"]));
    found.catch(() => undefined);
    await fleet.clock.advance(1);
    expect(await found).toEqual(["a@new", "b@new", "c@new", "d@old"]);
    expect(fleet.addresses).toEqual(["old", "new"]);
    expect(fleet.exchanges[1]?.replicas.map(({ shard }) => shard)).toEqual(["a", "b", "c"]);
  });

  test("lists what a node that was lost did not answer, and has the rest", async () => {
    const fleet = new Fleet(spread(4, 2));
    fleet.cut = "n1";
    expect(await all(fleet.ask(["0", "1", "2", "3"]))).toEqual(["0@n0", "1: CUT", "2@n0", "3: CUT"]);
  });

  test("lists what is late when time is up, and cancels it on the node", async () => {
    const fleet = new Fleet({ quick: { at: "n" }, slow: { at: "n", answer: "late" } });
    const found = all(fleet.ask(["quick", "slow"]));
    found.catch(() => undefined);
    await fleet.clock.advance(1_001);
    expect(await found).toEqual(["quick@n", "slow: TIMEOUT"]);
    expect(fleet.cancelled).toBe(1);
  });

  test("is cancelled on the nodes when the caller leaves", async () => {
    const fleet = new Fleet({ quick: { at: "n" }, slow: { at: "n", answer: "late" } });
    for await (const part of fleet.ask(["quick", "slow"])) {
      expect(part).toMatchObject({ body: "quick@n" });
      break;
    }
    await Promise.resolve();
    await fleet.clock.advance(1);
    expect(fleet.cancelled).toBe(1);
    const caller = new AbortController();
    const found = all(fleet.ask(["quick", "slow"], { signal: caller.signal }));
    found.catch(() => undefined);
    await fleet.clock.advance(1);
    caller.abort();
    await fleet.clock.advance(1);
    expect(await found).toContain("quick@n");
    expect(fleet.cancelled).toBe(2);
  });

  test("begins more than can be under way when half of them are done", async () => {
    const fleet = new Fleet(spread(10_000, 2));
    const found = all(fleet.ask(Array.from({ length: 10_000 }, (_, i) => String(i))));
    found.catch(() => undefined);
    await fleet.clock.advance(100);
    expect(await found).toHaveLength(10_000);
    expect(fleet.exchanges.length).toBeLessThan(20);
  });
});
