import type { Rules, ShardHandler, ShardMemory } from "@keelson/kernel";
import { FleetClient, KeelsonNode, type NodeMemory } from "@keelson/runtime";
import { indexing } from "./auction/indexing.ts";
import type { AuctionWorld } from "./auction/world.ts";
import { EraNumbers, SimEraSource } from "./eras.ts";
import type { Emit } from "./events.ts";
import type { NodeDriver, NodeFactory, SimNode } from "./node.ts";
import type { SimProcess } from "./process.ts";
import { simulatedService } from "./service.ts";
import { SERVICE, type Surroundings } from "./simulation.ts";
import { SimStore } from "./store.ts";
import { SimTransport } from "./transport.ts";
import type { ClientRouter } from "./workload.ts";

/** Puts the real drivers of the runtime into the simulated world: the same code that a fleet runs, with other ports. */
export function realNode(world: Surroundings, rules: Rules): NodeFactory {
  const numbers = new EraNumbers();
  return (node) => makeNode(world, rules, numbers, node);
}

function makeNode(world: Surroundings, rules: Rules, numbers: EraNumbers, node: SimNode): NodeDriver {
  const { scenario, network, emit, scheduler } = world;
  const { process } = node;
  const streams = world.streams.within(`${node.name}/${process.life}`);
  const counters = simulatedService(
    { name: SERVICE, primary: scenario.fleet.primary, ...scenario.service },
    {
      process,
      network,
      resources: world.resources,
      random: streams.stream("service"),
      emit,
      raisesFirst: world.own.activateRaise,
      ...(world.loads ? { load: (shard: string) => world.loads!.of(shard) } : {}),
    },
  );
  const auctioned = world.auction && indexed(world.auction, node, counters, emit);
  /** Whether the session that it holds by lets it serve right now. */
  const passes = (): boolean => driver.host.liveness?.fence.passes(process.clock.now()) === true;
  const store = new SimStore({
    process,
    network,
    server: world.store,
    onCommit: (commit) => emit({ kind: "commit-sent", node: node.name, commit }),
    onRenewal: (deliver) => {
      // What passed before the renewal passes after it, and no other session's tenures gain by it.
      const passed = passes();
      deliver();
      if (!passed)
        scheduler.after(0, () => {
          if (passes()) emit({ kind: "regained", node: node.name });
        });
    },
    onLateRenewal: () => emit({ kind: "late-renewal", node: node.name }),
  });
  const memory: NodeMemory = {
    load: () => node.disk.content as ReturnType<NodeMemory["load"]>,
    save: (note) => {
      node.disk.content = note;
    },
  };
  const driver = new KeelsonNode(
    {
      fleet: world.keys.fleet,
      node: node.name,
      address: node.address,
      zone: node.zone,
      capacity: node.capacity,
      services: [
        {
          ...(auctioned ?? counters),
          name: SERVICE,
          parameters: world.parameters,
          placement: world.placement,
          stabilisationMs: scenario.fleet.stabilisationMs,
        },
      ],
      terms: scenario.terms,
      rules,
      onDecision: (decision) => emit({ kind: "decision", node: node.name, decision }),
      onFatal: (error) => node.failed(error),
    },
    {
      store,
      memory,
      clock: process.clock,
      random: streams.stream("node"),
      transport: new SimTransport(process, network, world.listeners),
      eras: new SimEraSource(process, network, numbers),
    },
  );
  return driver;
}

/** The same service, with repositories to index and memory to index them into. */
function indexed(
  world: AuctionWorld,
  node: SimNode,
  counters: ShardHandler,
  emit: Emit,
): ShardHandler & { readonly memory: ShardMemory } {
  const { catalogue, scenario } = world;
  const memory = world.memoryFor(node, emit);
  const { clock } = node.process;
  return { ...indexing(counters, SERVICE, scenario.indexing, { clock, catalogue, memory }), memory };
}

/** A client's way to the shards: the runtime's own, fed from the store over the client's own links. */
export function realRouter(world: Surroundings, process: SimProcess): ClientRouter {
  const client = new FleetClient({
    fleet: world.keys.fleet,
    store: new SimStore({ process, network: world.network, server: world.store }),
    transport: new SimTransport(process, world.network, world.listeners),
    clock: process.clock,
    random: world.streams.stream(`router/${process.name}`),
    terms: world.scenario.terms,
  });
  client.start();
  return {
    call: (shard, mode, replica, timeoutMs) =>
      client.call({
        service: SERVICE,
        shard,
        mode,
        timeoutMs,
        method: mode === "write" ? "add" : "get",
        body: undefined,
        ...(replica === undefined ? {} : { replica }),
      }),
  };
}
