import { Keys, RouteTable, TransportError, type NodeReply } from "@keelson/kernel";
import { ManualClock, ScriptedTransport, type ScriptedAnswer } from "@keelson/testkit";
import { describe, expect, test } from "vitest";
import type { RouterOptions } from "./options.ts";
import { RouterError } from "./router-error.ts";
import { Router, type RouterRequest } from "./router.ts";

const keys = new Keys("test");

/** A router, the table it reads, and nodes that answer as told, in virtual time. */
class Scene {
  readonly clock = new ManualClock();
  readonly transport = new ScriptedTransport(this.clock);
  readonly table = new RouteTable();
  readonly router: Router;
  #revision = 10;

  constructor(options: Partial<RouterOptions> = {}) {
    this.router = new Router({
      table: this.table,
      transport: this.transport,
      clock: this.clock,
      random: () => 1,
      options,
    });
  }

  holds(node: string, replica = 0, shard = "1", revision = ++this.#revision): this {
    const tenure = { node, session: `session-of-${node}`, era: 1, address: `${node}:1` };
    this.table.put(keys.parse(keys.tenure(`jobs/${shard}/${replica}`))!, tenure, revision);
    return this;
  }

  primary(node: string, replica: number): this {
    const primary = { node, replica, session: `session-of-${node}`, era: 1, address: `${node}:1` };
    this.table.put(keys.parse(keys.primary("jobs/1"))!, primary, ++this.#revision);
    return this;
  }

  lost(replica = 0, shard = "1"): void {
    this.table.remove(keys.parse(keys.tenure(`jobs/${shard}/${replica}`))!);
  }

  /** What a node answers, one after another; the last one for ever. */
  says(node: string, ...answers: ScriptedAnswer[]): this {
    this.transport.says(`${node}:1`, ...answers);
    return this;
  }

  /** Makes a call and lets time pass until it ends. */
  async ask(request: Partial<RouterRequest> = {}, advanceMs = 5_000): Promise<Ended> {
    const { ended } = this.begin(request);
    await this.clock.advance(advanceMs);
    return ended();
  }

  begin(request: Partial<RouterRequest> = {}): { ended: () => Ended } {
    let end: Ended = { state: "pending", at: Number.NaN };
    const body = {
      service: "jobs",
      shard: "1",
      method: "get",
      mode: "read",
      body: "q",
      timeoutMs: 1_000,
    } as const;
    this.router.call({ ...body, ...request }).then(
      ({ body: answer, node, tries, replica, epoch }) => {
        end = { state: "answered", at: this.clock.now(), answer, node, tries, replica, epoch };
      },
      (error: unknown) => {
        end = { state: "failed", at: this.clock.now(), error };
      },
    );
    return { ended: () => end };
  }

  get sent(): ScriptedTransport["sent"] {
    return this.transport.sent;
  }

  get asked(): string[] {
    return this.sent.map(({ address }) => address.slice(0, address.indexOf(":")));
  }
}

type Ended =
  | { readonly state: "pending"; readonly at: number }
  | { readonly state: "answered"; readonly at: number; readonly [field: string]: unknown }
  | { readonly state: "failed"; readonly at: number; readonly error: unknown };

const ok = (revision: number, body: unknown = "yes"): NodeReply => ({
  kind: "ok",
  epoch: { era: 1, revision },
  body,
});
const goTo = (node: string, replica?: number): NodeReply => ({
  kind: "not-owner",
  hint: { node, address: `${node}:1`, ...(replica === undefined ? {} : { replica }) },
});
const notOwner: NodeReply = { kind: "not-owner" };
const unreachable = new TransportError("UNREACHABLE", "refused");
const cut = new TransportError("CUT", "reset");

function failure(end: Ended): RouterError {
  if (end.state === "failed" && end.error instanceof RouterError) return end.error;
  throw new Error(`expected a RouterError, got ${JSON.stringify(end)}`);
}

describe("Router", () => {
  test("sends a request to the holder and gives back its answer, setting no timer of its own", async () => {
    const scene = new Scene().holds("a").says("a", ok(11));
    const { ended } = scene.begin({ trace: "t" });
    expect(scene.clock.timers).toBe(1);
    await scene.clock.advance(1);
    expect(ended()).toEqual({
      state: "answered",
      at: 1,
      answer: "yes",
      node: "a",
      tries: 1,
      replica: 0,
      epoch: { era: 1, revision: 11 },
    });
    expect(scene.sent[0]?.request).toEqual({
      service: "jobs",
      shard: "1",
      replica: 0,
      method: "get",
      mode: "read",
      body: "q",
      timeoutMs: 1_000,
      trace: "t",
    });
    expect(scene.clock.timers).toBe(0);
  });

  test("passes the service's own errors through, at once", async () => {
    const scene = new Scene()
      .holds("a")
      .says("a", { kind: "error", code: "BAD_QUERY", message: "no such field" });
    const error = failure(await scene.ask());
    expect(error).toMatchObject({
      code: "BAD_QUERY",
      message: "jobs/1: no such field",
      tries: 1,
      unknown: false,
    });
  });

  test("lets errors that are bugs pass as they are", async () => {
    const scene = new Scene().holds("a");
    scene.transport.call = () => Promise.reject(new TypeError("bug"));
    expect(await scene.ask()).toMatchObject({ state: "failed", error: new TypeError("bug") });
  });
});

describe("Router, when the node it asked is not the holder", () => {
  test("follows hints at once, and pays nothing for it", async () => {
    const budget = { ratio: 0, floorPerSecond: 0, savedMax: 0 };
    const scene = new Scene({ budget })
      .holds("a")
      .says("a", goTo("b"))
      .says("b", goTo("c"))
      .says("c", ok(12));
    expect(await scene.ask()).toMatchObject({ state: "answered", at: 3, node: "c", tries: 3 });
    expect(scene.router.counts).toMatchObject({ calls: 1, redirects: 2, retries: 0, failures: 0 });
  });

  test("asks for the replica that the hint names", async () => {
    const scene = new Scene().holds("a").says("a", goTo("b", 2)).says("b", ok(12));
    expect(await scene.ask({ mode: "write" })).toMatchObject({ replica: 2 });
    expect(scene.sent[1]?.request.replica).toBe(2);
  });

  test("follows three hints in a row, then pauses before it goes on", async () => {
    const scene = new Scene().holds("a").says("a", goTo("b"), goTo("b"), ok(12)).says("b", goTo("a"));
    expect(await scene.ask()).toMatchObject({ state: "answered", node: "a", tries: 5 });
    expect(scene.asked).toEqual(["a", "b", "a", "b", "a"]);
    expect(scene.sent.map(({ at }) => at)).toEqual([0, 1, 2, 3, 4 + 5]);
  });

  test("goes to the new holder as soon as the table knows it", async () => {
    const scene = new Scene({ backoff: { firstMs: 500, maxMs: 500 } })
      .holds("a")
      .says("a", notOwner)
      .says("b", ok(12));
    const { ended } = scene.begin();
    await scene.clock.advance(40);
    scene.holds("b");
    await scene.clock.advance(1);
    expect(ended()).toMatchObject({ state: "answered", at: 41, node: "b" });
    expect(scene.clock.timers).toBe(0);
  });

  test("pauses longer and longer instead of hammering, and ends at the deadline", async () => {
    const scene = new Scene().holds("a").says("a", notOwner);
    const end = await scene.ask();
    expect(failure(end)).toMatchObject({ code: "NO_HOLDER", unknown: false });
    expect(failure(end).message).toMatch(
      /^jobs\/1: node a does not hold it and knows nobody who does: try again \(\d+ tries\)$/,
    );
    expect(end.at).toBe(1_000);
    expect(scene.sent.length).toBeLessThan(12);
    const gaps = scene.sent.slice(1).map(({ at }, i) => at - scene.sent[i]!.at - 1);
    expect(gaps.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
    expect(Math.max(...gaps)).toBeGreaterThanOrEqual(320);
  });
});

describe("Router, when nobody holds the shard", () => {
  test("waits for a holder without asking anyone, and pays nothing for it", async () => {
    const budget = { ratio: 0, floorPerSecond: 0, savedMax: 0 };
    const scene = new Scene({ budget }).says("a", ok(11));
    const { ended } = scene.begin();
    await scene.clock.advance(300);
    expect(scene.sent).toHaveLength(0);
    scene.holds("a");
    await scene.clock.advance(1);
    expect(ended()).toMatchObject({ state: "answered", at: 301, tries: 1 });
  });

  test("says at the deadline that there is no holder, and why", async () => {
    const scene = new Scene();
    const end = await scene.ask({ timeoutMs: 200 });
    expect([end.at, failure(end).code, failure(end).tries]).toEqual([200, "NO_HOLDER", 0]);
    expect(failure(end).message).toBe(
      "jobs/1: no holder within 200 ms: no member of the fleet is known here; try again",
    );
    expect(scene.clock.timers).toBe(0);
  });

  test("waits for a holder no longer than its patience, and for an answer as long as its timeout", async () => {
    const scene = new Scene();
    const absent = await scene.ask({ timeoutMs: 4_000, patienceMs: 300 });
    expect([absent.at, failure(absent).code]).toEqual([300, "NO_HOLDER"]);
    scene.holds("a").says("a", { kind: "warming", progress: 0.5 });
    const loading = await scene.ask({ timeoutMs: 4_000, patienceMs: 300 });
    expect([loading.at, failure(loading).code]).toEqual([5_300, "WARMING"]);
  });

  test("refuses a call when too many wait already", async () => {
    const scene = new Scene({ waitingMax: 2 });
    scene.begin();
    scene.begin();
    const { ended } = scene.begin();
    await scene.clock.advance(0);
    expect(failure(ended()).message).toBe(
      "jobs/1: 2 calls wait here already: send less, and try again later",
    );
    expect(failure(ended()).code).toBe("OVERLOADED");
  });

  test("counts only those who wait now", async () => {
    const scene = new Scene({ waitingMax: 1 });
    const states: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { ended } = scene.begin({ timeoutMs: 10 });
      await scene.clock.advance(10);
      states.push(failure(ended()).code);
      scene.holds("a").lost();
    }
    expect(states).toEqual(["NO_HOLDER", "NO_HOLDER", "NO_HOLDER"]);
    scene.begin();
    const { ended } = scene.begin();
    await scene.clock.advance(0);
    expect(failure(ended()).code).toBe("OVERLOADED");
  });

  test("waits for the primary with a write, though replicas are held", async () => {
    const scene = new Scene().holds("a").holds("b", 1).primary("a", 0).says("b", ok(30));
    scene.table.remove(keys.parse(keys.primary("jobs/1"))!);
    const { ended } = scene.begin({ mode: "write" });
    await scene.clock.advance(100);
    expect(scene.sent).toHaveLength(0);
    scene.primary("b", 1);
    await scene.clock.advance(1);
    expect(ended()).toMatchObject({ state: "answered", node: "b", replica: 1 });
  });

  test("does not send at all when it is given no time", async () => {
    const scene = new Scene().holds("a").says("a", ok(11));
    expect(failure(await scene.ask({ timeoutMs: 0 }))).toMatchObject({ code: "TIMEOUT", tries: 0 });
    expect(scene.sent).toHaveLength(0);
  });
});

describe("Router, when an outcome is unknown", () => {
  test.each([
    ["TIMEOUT", "silence" as const],
    ["CUT", cut],
  ])(
    "does not send a write again after %s, and says that it may have been carried out",
    async (code, answer) => {
      const scene = new Scene().holds("a").says("a", answer, ok(11));
      const error = failure(await scene.ask({ mode: "write" }));
      expect(error).toMatchObject({ code, unknown: true, tries: 1 });
      expect(error.message).toMatch(/the write may have been carried out, so read before you write again$/);
      expect(scene.sent).toHaveLength(1);
    },
  );

  test("sends a write again that says it is idempotent, and any read", async () => {
    for (const request of [{ mode: "write", idempotent: true }, { mode: "read" }] as const) {
      const scene = new Scene().holds("a").says("a", cut, ok(11));
      expect(await scene.ask(request)).toMatchObject({ state: "answered", tries: 2 });
    }
  });

  test("sends a write again that reached nobody", async () => {
    const scene = new Scene().holds("a").says("a", unreachable, ok(11));
    expect(await scene.ask({ mode: "write" })).toMatchObject({ state: "answered", tries: 2 });
  });

  test("calls a read that got no answer in time a timeout", async () => {
    const end = await new Scene().holds("a").says("a", "silence").ask();
    expect([end.at, failure(end).code, failure(end).unknown]).toEqual([1_000, "TIMEOUT", false]);
  });
});

describe("Router, with replicas", () => {
  const two = (options: Partial<RouterOptions> = {}): Scene => new Scene(options).holds("a").holds("b", 1);

  test.each<[string, ScriptedAnswer]>([
    ["is warming", { kind: "warming", progress: 0.2 }],
    ["is overloaded", { kind: "overloaded", reason: "full" }],
    ["cannot be reached", unreachable],
    ["is cut off", cut],
    ["is not the holder", notOwner],
  ])("asks another one at once with a read when the first %s", async (_, answer) => {
    const scene = two().says("a", answer).says("b", ok(12));
    expect(await scene.ask()).toMatchObject({ state: "answered", at: 2, node: "b", replica: 1 });
  });

  test("does so with neither a write nor a read of a certain replica", async () => {
    for (const request of [{ mode: "write" }, { replica: 0 }] as const) {
      const scene = two().says("a", { kind: "warming", progress: 0.2 }, ok(11)).says("b", ok(12));
      expect(await scene.ask(request)).toMatchObject({ state: "answered", node: "a", at: 1 + 5 + 1 });
    }
  });

  test("pauses when all have been asked, then begins again", async () => {
    const scene = two().says("a", { kind: "warming", progress: 0.2 }, ok(11)).says("b", unreachable);
    expect(await scene.ask()).toMatchObject({ node: "a", tries: 3, at: 2 + 5 + 1 });
  });

  test("reads from whoever is there when replica 0 has no holder", async () => {
    expect(await new Scene().holds("b", 1).says("b", ok(12)).ask()).toMatchObject({ node: "b", replica: 1 });
  });

  test("gives one try of a read no more than its share of the time, where that is wished", async () => {
    const scene = two({ tryTimeoutMs: 300 }).says("a", "silence").says("b", ok(12));
    expect(await scene.ask()).toMatchObject({ state: "answered", at: 301, node: "b" });
  });

  test("tells the last reason when all of them warm until the deadline", async () => {
    const scene = two()
      .says("a", { kind: "warming", progress: 0.25 })
      .says("b", { kind: "warming", progress: 0.5 });
    expect(failure(await scene.ask()).code).toBe("WARMING");
    expect(failure(await scene.ask()).message).toMatch(/is still loading it \(\d+ %\): try again later/);
  });
});

describe("Router, and epochs", () => {
  test("drops an answer below an epoch that was known when the request left", async () => {
    const scene = new Scene().holds("a").says("a", ok(20, "new"), ok(11, "old"), ok(20, "new again"));
    await scene.ask();
    expect(await scene.ask()).toMatchObject({ state: "answered", answer: "new again", tries: 2 });
    expect(scene.router.counts.stale).toBe(1);
  });

  test("takes an answer that was overtaken: its request left before the later epoch was known", async () => {
    const overtaken = { afterMs: 20, reply: ok(11, "first") };
    const scene = new Scene().holds("a").says("a", overtaken, ok(20, "second"));
    const first = scene.begin({ mode: "write" });
    const second = scene.begin();
    await scene.clock.advance(20);
    expect(second.ended()).toMatchObject({ answer: "second", at: 1 });
    expect(first.ended()).toMatchObject({ answer: "first", at: 20, tries: 1 });
  });

  test("does not guess what became of a write that a former holder answered", async () => {
    const scene = new Scene().holds("a").says("a", ok(20), ok(11));
    await scene.ask();
    expect(failure(await scene.ask({ mode: "write" }))).toMatchObject({ code: "STALE", unknown: true });
  });

  test("does not compare the write epochs of a primary with the epochs of tenures", async () => {
    const scene = new Scene().holds("a").primary("a", 0).says("a", ok(90), ok(20), ok(90));
    expect(await scene.ask({ mode: "read" })).toMatchObject({ state: "answered" });
    expect(await scene.ask({ mode: "write" })).toMatchObject({ state: "answered", tries: 1 });
    expect(await scene.ask({ mode: "read" })).toMatchObject({ state: "answered", tries: 1 });
  });
});

describe("Router, and limits", () => {
  test("gives up at once on a quarantined shard", async () => {
    const scene = new Scene().holds("a").says("a", { kind: "quarantined", reason: "killed 5 holders" });
    expect(failure(await scene.ask()).message).toBe(
      "jobs/1: it is quarantined (killed 5 holders): mend the cause, then let an operator retry it",
    );
  });

  test("stops retrying when the budget is spent, and says at the deadline what the retry was for", async () => {
    const budget = { ratio: 0.1, floorPerSecond: 0, savedMax: 1 };
    const scene = new Scene({ budget }).holds("a").says("a", { kind: "overloaded", reason: "full" });
    const end = await scene.ask();
    expect([end.at, failure(end).code, failure(end).tries]).toEqual([1_000, "BUDGET", 2]);
    expect(failure(end).message).toBe(
      "jobs/1: the retry budget is spent, and a retry is needed because node a is overloaded (full): send less, and try again later (2 tries)",
    );
  });

  test("goes on when the budget has grown again", async () => {
    const budget = { ratio: 0, floorPerSecond: 2, savedMax: 1 };
    const scene = new Scene({ budget }).holds("a").says("a", notOwner, notOwner, ok(11));
    const end = await scene.ask();
    expect(end).toMatchObject({ state: "answered", tries: 3 });
    expect(end.at).toBeGreaterThan(500);
  });

  test("goes to a new holder though the budget is spent, but to no other replica", async () => {
    const budget = { ratio: 0, floorPerSecond: 0, savedMax: 0 };
    const scene = new Scene({ budget })
      .holds("a")
      .holds("c", 1)
      .says("a", notOwner)
      .says("b", ok(12))
      .says("c", ok(9));
    const { ended } = scene.begin();
    await scene.clock.advance(100);
    scene.holds("b");
    await scene.clock.advance(1);
    expect(ended()).toMatchObject({ state: "answered", node: "b", at: 101 });
    expect(scene.asked).toEqual(["a", "b"]);
  });

  test("pays nothing to try again what reached nobody", async () => {
    const budget = { ratio: 0, floorPerSecond: 0, savedMax: 0 };
    const scene = new Scene({ budget }).holds("a").says("a", unreachable, ok(11));
    expect(await scene.ask()).toMatchObject({ state: "answered", tries: 2 });
  });

  test("does not shut out a node that answers in between", async () => {
    const scene = new Scene({ breaker: { failuresMax: 2, openMs: 60_000, openMsMax: 60_000 } });
    scene.holds("a").says("a", unreachable, notOwner, unreachable, ok(11));
    expect(await scene.ask()).toMatchObject({ state: "answered", tries: 4 });
  });

  test("stops asking a node that cannot be reached, and tells so at the deadline", async () => {
    const scene = new Scene({ breaker: { failuresMax: 3, openMs: 10_000, openMsMax: 10_000 } });
    scene.holds("a").says("a", unreachable);
    expect(failure(await scene.ask()).code).toBe("UNREACHABLE");
    expect(scene.sent).toHaveLength(3);
    const error = failure(await scene.ask());
    expect(error).toMatchObject({ code: "UNREACHABLE", tries: 0 });
    expect(error.message).toMatch(
      /^jobs\/1: node a has not answered lately and was not asked within 1000 ms/,
    );
    expect(scene.sent).toHaveLength(3);
  });

  test("asks again with one probe when a breaker is half-open, and lets all pass when it is answered", async () => {
    const scene = new Scene({ breaker: { failuresMax: 1, openMs: 300, openMsMax: 300 } });
    scene.holds("a").says("a", unreachable, "silence", ok(11));
    await scene.ask({ timeoutMs: 100 }, 200);
    const calls = [
      scene.begin({ timeoutMs: 400 }),
      scene.begin({ timeoutMs: 3_000 }),
      scene.begin({ timeoutMs: 3_000 }),
    ];
    await scene.clock.advance(150);
    expect(scene.sent).toHaveLength(2);
    await scene.clock.advance(3_000);
    expect(calls.map(({ ended }) => ended().state)).toEqual(["failed", "answered", "answered"]);
  });

  test("asks a node anew when it has come back with another session", async () => {
    const scene = new Scene({ breaker: { failuresMax: 1, openMs: 60_000, openMsMax: 60_000 } });
    scene.holds("a").says("a", unreachable, ok(40));
    const { ended } = scene.begin();
    await scene.clock.advance(100);
    scene.lost();
    const again = { node: "a", session: "a-new-session", era: 1, address: "a:1" };
    scene.table.put(keys.parse(keys.tenure("jobs/1/0"))!, again, 40);
    await scene.clock.advance(1);
    expect(ended()).toMatchObject({ state: "answered", node: "a" });
  });

  test("prefers a replica whose node can be reached", async () => {
    const scene = new Scene({ breaker: { failuresMax: 1, openMs: 60_000, openMsMax: 60_000 } });
    scene.holds("a").holds("b", 1).says("a", unreachable).says("b", ok(12));
    await scene.ask();
    expect(await scene.ask()).toMatchObject({ node: "b", tries: 1 });
    expect(scene.asked).toEqual(["a", "b", "b"]);
  });
});
