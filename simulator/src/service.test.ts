import { describe, expect, it } from "vitest";
import type { Epoch, Prepared, Shard } from "@keelson/kernel";
import { Streams } from "./chance/streams.ts";
import type { SimEvent } from "./events.ts";
import { Network } from "./network.ts";
import { SimProcess } from "./process.ts";
import { OBJECTS, Resources } from "./resource.ts";
import { simulatedService } from "./service.ts";
import { MachineClock } from "./time/machine-clock.ts";
import { Scheduler } from "./time/scheduler.ts";

const epoch = (revision: number): Epoch => ({ era: 1, revision });

/** Two nodes that run the service on shared resources, 1 ms away. */
class Rig {
  readonly scheduler = new Scheduler();
  readonly events: SimEvent[] = [];
  readonly network = new Network(
    this.scheduler,
    { floorMs: 1, meanMs: 0, spikes: 0, spikeMs: [0, 0], lateMs: [0, 0] },
    new Streams(1).stream("network"),
  );
  readonly resources = new Resources((event) => void this.events.push(event), { checksEpochs: true });
  readonly raisesFirst: boolean;

  constructor(raisesFirst = true) {
    this.raisesFirst = raisesFirst;
  }

  prepare(node: string): Promise<Prepared> {
    const process = new SimProcess(
      node,
      this.scheduler,
      new MachineClock({ rate: 1, offsetMs: 0, wallMs: 0 }),
    );
    process.start();
    const service = simulatedService(
      {
        name: "kv",
        primary: false,
        prepareMs: [2, 2],
        activateMs: [2, 2],
        requestMs: [1, 1],
        openFailures: 0,
      },
      {
        process,
        network: this.network,
        resources: this.resources,
        random: new Streams(1).stream(node),
        emit: (event) => void this.events.push(event),
        raisesFirst: this.raisesFirst,
      },
    );
    const signal = {
      aborted: false,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    };
    return service.prepare!({ shard: "0", replica: 0, signal, progress: () => undefined });
  }

  /** Lets virtual time pass until the promise is settled. */
  async await<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    const settled = promise.finally(() => (done = true));
    settled.catch(() => undefined);
    for (let i = 0; i < 100 && !done; i++) await this.scheduler.run(this.scheduler.now + 100);
    return settled;
  }

  async open(node: string, at: Epoch): Promise<Shard> {
    const prepared = await this.await(this.prepare(node));
    return this.await(prepared.activate(at));
  }

  ask(shard: Shard, mode: "read" | "write", at: Epoch): Promise<unknown> {
    const signal = {
      aborted: false,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    };
    return shard.handle({ method: "", mode, body: undefined, epoch: at, signal, timeoutMs: 1_000 });
  }
}

describe("the simulated service", () => {
  it("counts writes one after another, and reads what it counted", async () => {
    const rig = new Rig();
    const shard = await rig.open("a", epoch(1));
    const writes = Promise.all([1, 2, 3].map(() => rig.ask(shard, "write", epoch(1))));
    expect(await rig.await(writes)).toEqual([1, 2, 3]);
    expect(await rig.await(rig.ask(shard, "read", epoch(1)))).toBe(3);
  });

  it("is refused by the resource once a later tenure has begun", async () => {
    const rig = new Rig();
    const old = await rig.open("a", epoch(1));
    await rig.await(rig.ask(old, "write", epoch(1)));
    const next = await rig.open("b", epoch(2));
    await expect(rig.await(rig.ask(old, "write", epoch(1)))).rejects.toThrow("older");
    expect(await rig.await(rig.ask(next, "write", epoch(2)))).toBe(2);
  });

  it("stops writing when it is closed", async () => {
    const rig = new Rig();
    const shard = await rig.open("a", epoch(1));
    await shard.close!();
    await expect(rig.await(rig.ask(shard, "write", epoch(1)))).rejects.toThrow("closed");
  });

  it("loses an update of the old holder if it reads before it raises", async () => {
    for (const raisesFirst of [true, false]) {
      const rig = new Rig(raisesFirst);
      const old = await rig.open("a", epoch(1));
      const prepared = await rig.await(rig.prepare("b"));
      // The old holder's write is on its way for 6 ms: it arrives when the new one has read and not yet raised.
      const end = rig.network.begin({ from: "a", to: OBJECTS, delayMs: [5, 5] });
      const write = rig.ask(old, "write", epoch(1));
      const activation = prepared.activate(epoch(2));
      await rig.scheduler.run(rig.scheduler.now + 2.5);
      const slow = rig.network.begin({ from: "b", to: OBJECTS, delayMs: [5, 5] });
      write.catch(() => undefined);
      const next = await rig.await(activation);
      end();
      slow();
      await rig.await(rig.ask(next, "write", epoch(2)));
      const overwritten = rig.events.filter(
        (event) => event.kind === "wrote" && event.value !== event.previous + 1,
      );
      expect(overwritten).toHaveLength(raisesFirst ? 0 : 1);
    }
  });
});
