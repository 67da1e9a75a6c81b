import { ring } from "@keelson/kernel";
import { defineService } from "@keelson/runtime";
import { TestFleet } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { Narrator } from "../report/narrator.ts";
import { Watchman } from "./watchman.ts";

let fleet: TestFleet | undefined;
let watchman: Watchman | undefined;
afterEach(async () => {
  watchman?.stop();
  await fleet?.stop();
});

test("a shard that the fleet has given up on is told as quarantined, with the reason", async () => {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const service = defineService({
    name: "poison",
    parameters: { shards: 1, replicas: 1, placement: {} },
    placement: ring({ service: "poison" }),
    open: async () => {
      await begun;
      throw new Error("its disk is gone");
    },
  });
  fleet = new TestFleet({ services: [service], terms: { opensTriesMax: 1, quarantineStrikes: 1 } });
  const node = await fleet.add("a");
  const lines: string[] = [];
  watchman = new Watchman(node, new Narrator({ write: (line) => lines.push(line) }));
  begin();
  await fleet.until(
    () => lines.some((line) => line.startsWith("quarantined")),
    5_000,
    () => lines.join("\n"),
  );
  expect(lines).toContain(
    "quarantined poison 0: 1 strikes, the last: open failed on a: its disk is gone; nobody opens it for 10 min",
  );
});

test("a store that is gone is told, and after a while it counts as lost", async () => {
  fleet = new TestFleet({ services: [] });
  const node = await fleet.add("a");
  const lines: string[] = [];
  watchman = new Watchman(node, new Narrator({ write: (line) => lines.push(line) }));
  const lost = watchman.storeLost(200).catch((error: unknown) => String(error));
  await new Promise((resolve) => setTimeout(resolve, 600));
  node.mirror.stop();
  expect(await lost).toContain("left without handing over, because the store has not answered for 200 ms");
  expect(lines).toEqual(["the store does not answer: what is held is served until its session's deadline"]);
});
