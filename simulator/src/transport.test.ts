import { describe, expect, it } from "vitest";
import type { NodeReply, NodeRequest } from "@keelson/kernel";
import { Streams } from "./chance/streams.ts";
import { Network } from "./network.ts";
import { SimProcess } from "./process.ts";
import { MachineClock } from "./time/machine-clock.ts";
import { Scheduler } from "./time/scheduler.ts";
import { SimTransport, type Listeners } from "./transport.ts";

const request: NodeRequest = {
  service: "s",
  shard: "0",
  replica: 0,
  method: "",
  mode: "read",
  body: 0,
  timeoutMs: 100,
};

/** A caller and a node that answers after 10 ms. */
function rig() {
  const scheduler = new Scheduler();
  const network = new Network(
    scheduler,
    { floorMs: 1, meanMs: 0, spikes: 0, spikeMs: [0, 0], lateMs: [0, 0] },
    new Streams(1).stream("network"),
  );
  const machine = (): MachineClock => new MachineClock({ rate: 1, offsetMs: 0, wallMs: 0 });
  const caller = new SimProcess("caller", scheduler, machine());
  const target = new SimProcess("target", scheduler, machine());
  caller.start();
  target.start();
  const listeners: Listeners = new Map();
  listeners.set("target:1", {
    process: target,
    handle: () =>
      new Promise<NodeReply>((resolve) => target.clock.after(10, () => resolve({ kind: "not-owner" }))),
  });
  const transport = new SimTransport(caller, network, listeners);
  const call = (address = "target:1"): { at?: number; what?: string } => {
    const out: { at?: number; what?: string } = {};
    transport.call(address, request, { timeoutMs: 100 }).then(
      (reply) => Object.assign(out, { at: Math.round(scheduler.now), what: reply.kind }),
      (error: unknown) =>
        Object.assign(out, { at: Math.round(scheduler.now), what: (error as { code: string }).code }),
    );
    return out;
  };
  return { scheduler, network, target, call };
}

describe("SimTransport", () => {
  it("brings a request there and the answer back", async () => {
    const { scheduler, call } = rig();
    const out = call();
    await scheduler.run(500);
    expect(out).toEqual({ at: 12, what: "not-owner" });
  });

  it("says that nobody listens, that the connection was cut, or that no answer came", async () => {
    const { scheduler, network, target, call } = rig();
    const cut = call();
    scheduler.at(5, () => target.crash());
    await scheduler.run(20);
    const nobody = call();
    const nowhere = call("elsewhere:1");
    await scheduler.run(40);
    target.start();
    network.begin({ from: "target", to: "caller", cut: true });
    const silent = call();
    await scheduler.run(500);
    expect(cut).toEqual({ at: 6, what: "CUT" });
    expect(nobody).toEqual({ at: 22, what: "UNREACHABLE" });
    expect(nowhere.what).toBe("UNREACHABLE");
    expect(silent).toEqual({ at: 140, what: "TIMEOUT" });
  });

  it("waits for a paused node", async () => {
    const { scheduler, target, call } = rig();
    target.pause(50);
    const out = call();
    await scheduler.run(500);
    expect(out).toEqual({ at: 61, what: "not-owner" });
  });
});
