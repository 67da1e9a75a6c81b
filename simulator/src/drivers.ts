import type { Rules } from "@keelson/kernel";
import { KeelsonNode, Mirror, type NodeMemory } from "@keelson/runtime";
import { EraNumbers, SimEraSource } from "./eras.ts";
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
  const service = simulatedService(
    { name: SERVICE, primary: scenario.fleet.primary, ...scenario.service },
    {
      process,
      network,
      resources: world.resources,
      random: streams.stream("service"),
      emit,
      raisesFirst: world.own.activateRaise,
    },
  );
  const store = new SimStore({
    process,
    network,
    server: world.store,
    onRenewal: (deliver) => {
      const before = passing(node);
      deliver();
      scheduler.after(0, () => {
        if (passing(node) > before) emit({ kind: "regained", node: node.name });
      });
    },
  });
  const memory: NodeMemory = {
    load: () => node.disk.content as ReturnType<NodeMemory["load"]>,
    save: (note) => {
      node.disk.content = note;
    },
  };
  return new KeelsonNode(
    {
      fleet: world.keys.fleet,
      node: node.name,
      address: node.address,
      zone: node.zone,
      capacity: node.capacity,
      services: [
        {
          ...service,
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
}

/** How many of the replicas it holds a node would admit requests for right now. */
function passing(node: SimNode): number {
  let count = 0;
  for (const { replica } of node.held()) if (node.check(replica)) count++;
  return count;
}

export function realRouter(world: Surroundings, process: SimProcess): ClientRouter {
  const random = world.streams.stream(`router/${process.name}`);
  const store = new SimStore({ process, network: world.network, server: world.store });
  const transport = new SimTransport(process, world.network, world.listeners);
  const mirror = new Mirror({
    store,
    clock: process.clock,
    random,
    prefix: world.keys.prefix,
    canary: world.keys.era,
    timeoutMs: 2000,
    relistMs: 300_000,
  });
  mirror.start();
  const seen = new Map<string, { era: number; revision: number }>();
  const sleep = (ms: number): Promise<void> => new Promise((r) => process.clock.after(ms, r));
  return {
    async call(shard, mode, timeoutMs) {
      const deadline = process.clock.now() + timeoutMs;
      let last = "nothing";
      let hint: { address: string; replica: number } | undefined;
      for (let attempt = 0; process.clock.now() < deadline; attempt++) {
        const primary = world.parameters.primary === true && mode === "write";
        let replica =
          world.parameters.primary === true && !primary
            ? Math.floor(random() * world.parameters.replicas)
            : 0;
        const entry = mirror.image.get(
          primary
            ? world.keys.primary(`${SERVICE}/${shard}`)
            : world.keys.tenure(`${SERVICE}/${shard}/${replica}`),
        );
        let address: string | undefined;
        if (hint) ({ address, replica } = hint);
        else if (entry) {
          const value = JSON.parse(entry.value) as { address: string; replica?: number };
          address = value.address;
          if (primary) replica = value.replica ?? 0;
        }
        const hinted = hint !== undefined;
        hint = undefined;
        if (address !== undefined) {
          try {
            const left = deadline - process.clock.now();
            const reply = await transport.call(
              address,
              { service: SERVICE, shard, replica, method: "x", mode, body: null, timeoutMs: left },
              { timeoutMs: left },
            );
            last = reply.kind;
            if (reply.kind === "ok") {
              const key = `${shard}/${mode === "write" && primary ? "w" : replica}`;
              const high = seen.get(key);
              if (
                !high ||
                high.era < reply.epoch.era ||
                (high.era === reply.epoch.era && high.revision <= reply.epoch.revision)
              ) {
                seen.set(key, reply.epoch);
                return { epoch: reply.epoch, body: reply.body, replica };
              }
            }
            if (reply.kind === "error") throw Object.assign(new Error(reply.message), { code: reply.code });
            if (reply.kind === "not-owner" && reply.hint && !hinted) {
              hint = { address: reply.hint.address, replica: reply.hint.replica ?? replica };
              continue;
            }
          } catch (error) {
            const code = (error as { code?: string }).code;
            last = `${code}`;
            if (code !== "UNREACHABLE" && (mode === "write" || (code !== "TIMEOUT" && code !== "CUT")))
              throw error;
          }
        }
        await sleep(Math.min(5 * 2 ** attempt, 200) * (0.5 + random()));
      }
      throw Object.assign(new Error(`deadline, last ${last}`), { code: "DEADLINE" });
    },
  };
}
