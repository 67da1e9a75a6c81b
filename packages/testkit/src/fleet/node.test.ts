import { ring, type Epoch, type NodeReply, type NodeRequest, type Shard } from "@keelson/kernel";
import {
  FleetClient,
  KeelsonError,
  defineService,
  type NodeMemory,
  type ServiceDefinition,
} from "@keelson/runtime";
import { afterEach, expect, test } from "vitest";
import { TestFleet } from "./test-fleet.ts";

let fleet: TestFleet | undefined;
afterEach(() => fleet?.stop());

function service(
  open: (shard: string, epoch: Epoch) => Promise<Shard>,
  more: Partial<ServiceDefinition["parameters"]> = {},
): ServiceDefinition {
  return defineService({
    name: "s",
    parameters: { shards: 12, replicas: 1, placement: {}, ...more },
    placement: ring({ service: "s" }),
    open: ({ shard, epoch }) => open(shard, epoch),
  });
}

const echo: Shard = { handle: ({ body, epoch }) => Promise.resolve({ body, epoch }) };
const request = (shard: string, more: Partial<NodeRequest> = {}): NodeRequest => ({
  service: "s",
  shard,
  replica: 0,
  method: "m",
  mode: "read",
  body: "hi",
  timeoutMs: 500,
  ...more,
});

function client(of: TestFleet): FleetClient {
  const made = new FleetClient({
    fleet: "test",
    store: of.store.connect(),
    transport: of,
    clock: of.clock,
    random: Math.random,
  });
  made.start();
  return made;
}

test("a node that does not hold a shard answers not-owner with the holder as hint", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))] });
  const [holder] = fleet.holders("s/3/0");
  const replies = new Map<string, NodeReply>();
  for (const [name, node] of fleet.nodes) replies.set(name, await node.handle(request("3")));
  expect(replies.get(holder!)).toMatchObject({ kind: "ok", body: { body: "hi" } });
  replies.delete(holder!);
  for (const reply of replies.values())
    expect([
      { kind: "not-owner" },
      { kind: "not-owner", hint: { node: holder, address: holder } },
    ]).toContainEqual(reply);
  expect(await fleet.nodes.get("a")!.handle(request("no such shard"))).toEqual({ kind: "not-owner" });
});

test("a shard that always throws in open is quarantined and shown; the others are served", async () => {
  const poison = service((shard) =>
    shard === "5" ? Promise.reject(new Error("bad disk")) : Promise.resolve(echo),
  );
  fleet = new TestFleet({
    services: [poison],
    terms: { opensTriesMax: 1, quarantineStrikes: 2, strikeBackoffMs: 20 },
  });
  const node = await fleet.add("a");
  const others = fleet.replicas().filter((replica) => replica !== "s/5/0");
  await fleet.until(
    () => others.every((replica) => node.check(replica)),
    10_000,
    () => `held: ${[...node.held()].length}`,
  );
  while ((await node.handle(request("5"))).kind !== "quarantined")
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(node.explain("s", "5")?.trouble?.last.message).toBe("bad disk");
  expect(node.decisions.of("s/5/0").map(({ kind }) => kind)).toContain("quarantined");
});

test("a second process with the id of a running node is refused, and the first goes on", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))], nodes: 1 });
  const first = fleet.nodes.get("a")!;
  await expect(fleet.add("a")).rejects.toThrow(
    /node id a is in use by a running process at a .*start this one with another id/,
  );
  expect(first.check("s/0/0")).toBe(true);
  first.abandon();
});

test("a node that restarts after a crash ends its own old sessions and is back well before they would have expired", async () => {
  let note: ReturnType<NodeMemory["load"]>;
  const memory: NodeMemory = { load: () => note, save: (next) => (note = next) };
  fleet = new TestFleet({ services: [service(() => Promise.resolve(echo))], terms: { ttlMs: 20_000 } });
  await fleet.add("a", {}, memory);
  await fleet.allHeld();
  fleet.kill("a");
  const began = performance.now();
  await fleet.add("a", {}, memory);
  await fleet.allHeld();
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a node that cannot speak the fleet's protocol is told so, and changes nothing", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))], nodes: 1 });
  const error = await fleet.add("b", { protocol: { min: 2, max: 3 } }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(KeelsonError);
  expect(error).toMatchObject({ code: "PROTOCOL_MISMATCH" });
  expect(fleet.holders("s/0/0")).toEqual(["a"]);
});

test("a node with a longer TTL than the others joins, and the fleet's next era waits for it", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))], nodes: 1 });
  const node = await fleet.add("b", { terms: { ttlMs: 60_000 } });
  expect(node.mirror.image.get(node.keys.era)?.value).toContain('"ttlMsMax":60000');
  await fleet.settled();
});

test("leaving and joining fail no request", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))] });
  const asking = client(fleet);
  await fleet.until(
    () => asking.table.lookup("s", "0") !== undefined,
    2_000,
    () => "no routes",
  );
  const state = { over: false, asked: 0 };
  const load = async (): Promise<void> => {
    while (!state.over) {
      await asking.call({
        service: "s",
        shard: String(state.asked++ % 12),
        method: "m",
        mode: "write",
        body: 1,
        timeoutMs: 1_000,
      });
    }
  };
  const loads = Promise.all([load(), load(), load()]);
  await fleet.leave("b");
  await fleet.add("d");
  await fleet.leave("a");
  await fleet.allHeld();
  state.over = true;
  await loads;
  expect(state.asked).toBeGreaterThan(20);
  asking.stop();
});

test("the last node of a fleet leaves at once", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))], nodes: 1 });
  const began = performance.now();
  await fleet.leave("a");
  expect(performance.now() - began).toBeLessThan(2_000);
});

test("with two replicas one is primary, writes carry its epoch, and another is promoted when it is lost", async () => {
  const promotions: string[] = [];
  const shared = service(
    (shard, epoch) =>
      Promise.resolve({
        ...echo,
        promote: (e) => Promise.resolve(void promotions.push(`${shard} ${e.revision >= epoch.revision}`)),
      }),
    { shards: 4, replicas: 2, primary: true },
  );
  fleet = await TestFleet.start({ services: [shared] });
  const primaries = (shard: string): string[] =>
    [...fleet!.nodes]
      .filter(([, node]) => [0, 1].some((r) => node.checkWrite(`s/${shard}/${r}`)))
      .map(([name]) => name);
  const all = ["0", "1", "2", "3"];
  await fleet.until(
    () => all.every((shard) => primaries(shard).length === 1),
    5_000,
    () => JSON.stringify(all.map(primaries)),
  );
  expect(promotions.every((text) => text.endsWith("true"))).toBe(true);
  const [lost] = primaries("2");
  fleet.kill(lost!);
  await fleet.until(
    () => all.every((shard) => primaries(shard).length === 1),
    5_000,
    () => JSON.stringify(all.map(primaries)),
  );
  const asking = client(fleet);
  await fleet.until(
    () => asking.table.writer("s", "2") !== undefined,
    2_000,
    () => "no writer",
  );
  const answer = await asking.call({
    service: "s",
    shard: "2",
    method: "m",
    mode: "write",
    body: 1,
    timeoutMs: 1_000,
  });
  expect(answer.node).toBe(primaries("2")[0]);
  expect(answer.epoch).toEqual(asking.table.writer("s", "2")?.epoch);
  asking.stop();
});

test("explain names the holder, its epoch and the reason", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))] });
  const [name] = fleet.holders("s/7/0");
  const explained = fleet.nodes.get("a")!.explain("s", "7")?.replicas[0];
  expect(explained?.holder?.node).toBe(name);
  expect(explained?.holder?.reason).not.toBe("");
  expect(explained?.candidates[0]).toBe(name);
});

test("one node is elected manager, and another when it leaves", async () => {
  fleet = await TestFleet.start({ services: [service(() => Promise.resolve(echo))] });
  const managers = (): string[] => [...fleet!.nodes].filter(([, node]) => node.manages).map(([name]) => name);
  await fleet.until(
    () => managers().length === 1,
    3_000,
    () => "no manager",
  );
  const [first] = managers();
  await fleet.leave(first!);
  await fleet.until(
    () => managers().length === 1,
    3_000,
    () => "no manager after the first left",
  );
  expect(managers()).not.toEqual([first]);
});
