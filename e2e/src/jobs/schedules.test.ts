/** Schedules across the loss of all nodes: the runs of the time without nodes are made up for as the schedule says. */
import { afterEach, expect, test } from "vitest";
import { FaultScene } from "./fault-scene.ts";
import { pause } from "./load.ts";

let scene: FaultScene | undefined;
afterEach(async () => {
  await scene?.stop();
  scene = undefined;
});

/** Waits, and leaves it to the expectations what it means that it did not come. */
async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !holds() && performance.now() < end;) await pause(200);
}

test("every second has its run, also those in which no node ran", async () => {
  scene = await FaultScene.start("embedded", ["a"]);
  const client = await scene.connect();
  const ran = new Set<number>();
  client.worker("tick", ({ id }) => void ran.add(Number(id.split("@")[1])));
  const schedule = {
    id: "tick",
    tenant: "-",
    cron: "* * * * * *",
    timeZone: "UTC",
    missed: "all",
    job: { group: "tick", payload: Buffer.from([0xc0]) },
  };
  const put = (cron: string) =>
    client.calls.byTenant(
      "-",
      "write",
      "execute",
      { kind: "putSchedule", schedule: { ...schedule, cron } },
      { timeoutMs: 60_000 },
    );
  await put("* * * * * *");
  await pause(2_500);
  await scene.fleet.kill("a");
  await pause(3_000);
  await scene.fleet.start("a");
  const seen = ran.size;
  await until(() => ran.size >= seen + 5);
  await put("0 0 0 1 1 *");
  // A run whose task was on its way when the node was killed comes once its lease has ended.
  const [first, last] = [Math.min(...ran), Math.max(...ran)];
  const every = Array.from({ length: (last - first) / 1_000 + 1 }, (_, index) => first + index * 1_000);
  await until(() => every.every((at) => ran.has(at)));
  expect(every.filter((at) => !ran.has(at))).toEqual([]);
  expect(every.length).toBeGreaterThanOrEqual(6);
}, 240_000);
