import { describe, expect, it } from "vitest";
import type { ChangeBatch, Commit, StoreError, WatchSink } from "@keelson/kernel";
import { Streams } from "./chance/streams.ts";
import { Network, type LinkFault } from "./network.ts";
import { SimProcess } from "./process.ts";
import { STORE, SimStore } from "./store.ts";
import { StoreServer, type Recovery } from "./store-server.ts";
import { MachineClock } from "./time/machine-clock.ts";
import { Scheduler } from "./time/scheduler.ts";
import { WATCH } from "./watch-stream.ts";

const late = { lateMs: [5_000, 5_000] } as const;

/** One process and a store, 1 ms apart. */
class Rig {
  readonly scheduler = new Scheduler();
  readonly network = new Network(
    this.scheduler,
    { floorMs: 1, meanMs: 0, spikes: 0, spikeMs: [0, 0], ...late },
    new Streams(1).stream("network"),
  );
  readonly recovered: Recovery["kind"][] = [];
  readonly foreign: string[] = [];
  readonly server: StoreServer;
  readonly process = new SimProcess(
    "p",
    this.scheduler,
    new MachineClock({ rate: 1, offsetMs: 0, wallMs: 0 }),
  );
  readonly store: SimStore;

  constructor(fullTtl = true, incarnation = true) {
    this.server = new StoreServer(
      this.scheduler,
      new MachineClock({ rate: 1, offsetMs: 7, wallMs: 0 }),
      {
        changed: () => undefined,
        foreign: (sender, madeFor, by) => void this.foreign.push(`${sender}: ${madeFor} in ${by}`),
        recovered: ({ kind }) => void this.recovered.push(kind),
      },
      { fullTtl, incarnation },
    );
    this.process.start();
    this.store = new SimStore({ process: this.process, network: this.network, server: this.server });
  }

  link(fault: Partial<LinkFault>, direction: "out" | "back"): () => void {
    const ends = direction === "out" ? { from: "p", to: STORE } : { from: STORE, to: "p" };
    return this.network.begin({ ...ends, ...fault });
  }

  /** Makes a call and notes what came of it, and when. */
  outcome<T>(call: Promise<T>): { at?: number; value?: T; code?: string } {
    const out: { at?: number; value?: T; code?: string } = {};
    call.then(
      (value) => Object.assign(out, { at: this.scheduler.now, value }),
      (error: unknown) => Object.assign(out, { at: this.scheduler.now, code: (error as StoreError).code }),
    );
    return out;
  }

  commit(
    commit: Commit = put("k"),
    incarnation = "i1",
  ): { at?: number; code?: string; value?: { kind: string } } {
    return this.outcome(this.store.commit(commit, { timeoutMs: 100, incarnation }));
  }
}

const put = (key: string, session?: string): Commit => ({
  guards: [],
  writes: [{ kind: "put", key, value: "", session }],
});

function sink(seen: string[]): WatchSink {
  return {
    changes: (batch: ChangeBatch) => void seen.push(`revision ${batch.revision}`),
    relist: () => void seen.push("relist"),
    closed: () => void seen.push("closed"),
  };
}

describe("a call to the simulated store", () => {
  it("takes a way there and a way back", async () => {
    const rig = new Rig();
    const out = rig.commit();
    await rig.scheduler.run(10);
    expect(out).toMatchObject({ at: 2, value: { kind: "committed" } });
  });

  it("is unknown to its caller when the reply is lost, and carried out all the same", async () => {
    const rig = new Rig();
    rig.link({ loss: 1 }, "back");
    const out = rig.commit();
    await rig.scheduler.run(200);
    expect(out.code).toBe("STORE_UNKNOWN");
    expect(out.at).toBeCloseTo(100, 3);
    expect(rig.server.core.revision).toBe(1);
  });

  it("may be carried out long after its caller gave up", async () => {
    const rig = new Rig();
    rig.link({ cut: true, late: 1 }, "out");
    const out = rig.commit();
    await rig.scheduler.run(4_999);
    expect(out.code).toBe("STORE_UNKNOWN");
    expect(rig.server.core.revision).toBe(0);
    await rig.scheduler.run(5_001);
    expect(rig.server.core.revision).toBe(1);
  });

  it("may be carried out twice", async () => {
    const rig = new Rig();
    rig.link({ repeat: 1 }, "out");
    rig.commit();
    await rig.scheduler.run(6_000);
    expect(rig.server.core.revision).toBe(2);
  });

  it("changes nothing when it was a read that got no reply", async () => {
    const rig = new Rig();
    rig.link({ cut: true }, "out");
    const out = rig.outcome(rig.store.range("", { timeoutMs: 50 }));
    await rig.scheduler.run(100);
    expect(out.code).toBe("STORE_UNAVAILABLE");
  });

  it("is turned away at once by a store that refuses, and hears nothing from one that is silent", async () => {
    const rig = new Rig();
    rig.server.stop(true);
    const refused = rig.commit();
    await rig.scheduler.run(10);
    expect(refused).toEqual({ at: 2, code: "STORE_UNAVAILABLE" });
    rig.server.start({ kind: "kept" });
    rig.server.stop(false);
    const silent = rig.commit();
    await rig.scheduler.run(200);
    expect(silent.code).toBe("STORE_UNKNOWN");
  });

  it("brings nothing back to a process that has since been killed and started again", async () => {
    const rig = new Rig();
    const out = rig.commit();
    rig.scheduler.at(1.5, () => {
      rig.process.crash();
      rig.process.start();
    });
    await rig.scheduler.run(500);
    expect(out).toEqual({});
  });
});

describe("the simulated store", () => {
  it("ends a session on time by its own clock though nobody calls", async () => {
    const rig = new Rig();
    const opened = rig.outcome(rig.store.openSession(1_000, { timeoutMs: 100 }));
    await rig.scheduler.run(10);
    const { session } = opened.value!;
    rig.commit(put("bound", session));
    await rig.scheduler.run(1_000);
    expect(rig.server.core.revision).toBe(1);
    await rig.scheduler.run(1_002);
    expect(rig.server.core.revision).toBe(2);
  });

  it("comes back with everything, with what it had at a snapshot, or with nothing, and says which by its incarnation", async () => {
    const rig = new Rig();
    rig.commit(put("early"));
    await rig.scheduler.run(10);
    const snapshot = rig.server.snapshot();
    rig.commit(put("later"));
    await rig.scheduler.run(20);
    const keys = (): string[] => rig.server.core.range("").entries.map(({ key }) => key);
    const through = (recovery: Recovery): string => {
      rig.server.stop(true);
      rig.server.start(recovery);
      return `${rig.server.core.incarnation}: ${keys().join(" ")}`;
    };
    expect(through({ kind: "kept" })).toBe("i1: early later");
    expect(through({ kind: "lost-silently", snapshot })).toBe("i1: early");
    expect(through({ kind: "lost", snapshot })).toBe("i2: early");
    expect(through({ kind: "total" })).toBe("i3: ");
    expect(rig.recovered).toEqual(["kept", "lost-silently", "lost", "total"]);
  });

  it("refuses a commit that was made for another incarnation, unless that rule is broken", async () => {
    for (const refuses of [true, false]) {
      const rig = new Rig(true, refuses);
      rig.server.stop(true);
      rig.server.start({ kind: "total" });
      rig.commit(put("late"));
      await rig.scheduler.run(10);
      expect(rig.server.core.range("").entries).toHaveLength(refuses ? 0 : 1);
      expect(rig.foreign).toEqual(refuses ? [] : ["p: i1 in i2"]);
    }
  });

  it("gives every session a full TTL after a restart, unless that rule is broken", async () => {
    for (const [fullTtl, aliveAtMs] of [
      [true, 1_890],
      [false, 910],
    ] as const) {
      const rig = new Rig(fullTtl);
      const opened = rig.outcome(rig.store.openSession(1_000, { timeoutMs: 100 }));
      await rig.scheduler.run(10);
      rig.commit(put("bound", opened.value!.session));
      rig.scheduler.at(800, () => rig.server.stop(true));
      rig.scheduler.at(900, () => rig.server.start({ kind: "kept" }));
      await rig.scheduler.run(aliveAtMs);
      expect(rig.server.core.range("").entries).toHaveLength(fullTtl ? 1 : 0);
    }
  });
});

describe("a watch of the simulated store", () => {
  it("delivers in order, however long each batch takes", async () => {
    const rig = new Rig();
    const seen: string[] = [];
    rig.store.watch("", 0, sink(seen));
    await rig.scheduler.run(10);
    const end = rig.network.begin({ from: WATCH, to: "p", delayMs: [500, 500] });
    rig.commit(put("a"));
    await rig.scheduler.run(20);
    end();
    rig.commit(put("b"));
    await rig.scheduler.run(30);
    expect(seen).toEqual([]);
    await rig.scheduler.run(1_000);
    expect(seen).toEqual(["revision 1", "revision 2"]);
  });

  it("waits while the link is cut, and closes when that lasts", async () => {
    for (const [cutMs, expected] of [
      [1_000, ["revision 1"]],
      [9_000, ["closed"]],
    ] as const) {
      const rig = new Rig();
      const seen: string[] = [];
      rig.store.watch("", 0, sink(seen));
      await rig.scheduler.run(10);
      const end = rig.network.begin({ from: WATCH, to: "p", cut: true });
      rig.commit(put("a"));
      rig.scheduler.at(cutMs, end);
      await rig.scheduler.run(10_000);
      expect(seen).toEqual(expected);
    }
  });

  it("closes when the store goes down, and is asked to list again by one that has gone back in time", async () => {
    const rig = new Rig();
    const seen: string[] = [];
    const snapshot = rig.server.snapshot();
    rig.commit(put("a"));
    await rig.scheduler.run(10);
    rig.store.watch("", 1, sink(seen));
    await rig.scheduler.run(20);
    rig.server.stop(true);
    rig.server.start({ kind: "lost-silently", snapshot });
    rig.store.watch("", 1, sink(seen));
    await rig.scheduler.run(30);
    expect(seen.sort()).toEqual(["closed", "relist"]);
  });
});
