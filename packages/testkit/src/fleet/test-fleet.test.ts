import { ring, type Shard } from "@keelson/kernel";
import { defineService } from "@keelson/runtime";
import { afterEach, expect, test } from "vitest";
import { TestFleet } from "./test-fleet.ts";

const echo = defineService({
  name: "echo",
  parameters: { shards: 60, replicas: 1, placement: {} },
  placement: ring({ service: "echo" }),
  open: ({ shard }): Promise<Shard> =>
    Promise.resolve({ handle: ({ body }) => Promise.resolve(`${shard}: ${String(body)}`) }),
});

let fleet: TestFleet | undefined;
afterEach(() => fleet?.stop());

test("three nodes hold every shard once", async () => {
  fleet = await TestFleet.start({ services: [echo] });
  for (const node of fleet.nodes.values()) expect([...node.held()].length).toBeGreaterThan(0);
});

test("the shards of a killed node are taken over, and those of a leaving one handed over", async () => {
  fleet = await TestFleet.start({ services: [echo] });
  fleet.kill("b");
  await fleet.allHeld();
  await fleet.leave("c");
  await fleet.allHeld();
  expect(fleet.replicas().every((replica) => fleet!.holders(replica)[0] === "a")).toBe(true);
});
