/* oxlint-disable vitest/expect-expect -- the fleet's own waiting fails by name. */
/**
 * What a fleet shows on any store that several machines could share: nodes in this process, each with a connection of its own to a real server, one of them through
 * a bad network. Each store's test file says how to connect.
 */
import { ring, type Shard, type Store } from "@keelson/kernel";
import { defineService } from "@keelson/runtime";
import { TcpProxy, TestFleet } from "@keelson/testkit";
import { afterEach, describe, expect, test } from "vitest";

export interface StoreServer {
  readonly port: number;
  /** A client of the server at this port, or at one that leads to it. */
  readonly connect: (port: number) => Store;
  /** The shortest session that it grants. */
  readonly ttlMs: number;
}

const echo = defineService({
  name: "echo",
  parameters: { shards: 60, replicas: 1, placement: {} },
  placement: ring({ service: "echo" }),
  open: ({ shard }): Promise<Shard> =>
    Promise.resolve({ handle: ({ body }) => Promise.resolve(`${shard}: ${String(body)}`) }),
});

export function fleetFacts(name: string, server: () => StoreServer): void {
  describe(`a fleet on ${name}`, () => {
    let fleet: TestFleet | undefined;
    let proxy: TcpProxy | undefined;
    afterEach(async () => {
      await fleet?.stop();
      await proxy?.close();
    });

    test("three nodes hold 60 shards, and those of one that is killed are held again within TTL and a second", async () => {
      const { ttlMs, port, connect } = server();
      fleet = await TestFleet.start({ services: [echo], terms: { ttlMs }, connect: () => connect(port) });
      const before = fleet.replicas().filter((replica) => fleet?.holders(replica)[0] === "b");
      expect(before.length).toBeGreaterThan(0);
      const killedAt = performance.now();
      fleet.kill("b");
      await fleet.allHeld();
      expect(performance.now() - killedAt).toBeLessThan(ttlMs + 1_000 + SLOW_MACHINE_MS);
    });

    test("a node that is cut off stops serving before the store ends its session, and serves again afterwards", async () => {
      const { ttlMs, port, connect } = server();
      proxy = await TcpProxy.open(port);
      const { port: detour } = proxy;
      fleet = await TestFleet.start({
        services: [echo],
        nodes: 2,
        terms: { ttlMs },
        connect: (node) => connect(node === "b" ? detour : port),
      });
      const running = fleet;
      const cutOff = running.replicas().filter((replica) => running.holders(replica)[0] === "b");
      const b = running.nodes.get("b");
      if (b === undefined || cutOff.length === 0) throw new Error("b holds nothing");
      let fencedAt: number | undefined;
      let endedAt: number | undefined;
      let both = 0;
      const observer = connect(port);
      const { revision } = await observer.range("", { timeoutMs: 5_000 });
      observer.watch("", revision, {
        changes: ({ changes }) => {
          if (changes.some((change) => change.kind === "delete")) endedAt ??= performance.now();
        },
        relist: () => {},
        closed: () => {},
      });
      proxy.blackHole();
      await running.until(
        () => {
          if (cutOff.some((replica) => running.holders(replica).length > 1)) both += 1;
          if (!cutOff.some((replica) => b.check(replica))) fencedAt ??= performance.now();
          return cutOff.every((replica) => running.holders(replica).join() === "a");
        },
        ttlMs + 6_000,
        () => "a has not taken all over",
      );
      // Where nobody is told of changes, it asks now and then, and may hear later than a.
      await running.until(
        () => endedAt !== undefined,
        6_000,
        () => "nobody was told of the end",
      );
      await observer.close();
      expect(both).toBe(0);
      expect(fencedAt).toBeLessThan(endedAt ?? 0);
      proxy.heal();
      await running.settled(15_000);
      expect(running.replicas().some((replica) => running.holders(replica)[0] === "b")).toBe(true);
    });
  });
}

/** What a machine that runs other tests beside may add. */
const SLOW_MACHINE_MS = 1_500;
