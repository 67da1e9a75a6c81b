/** Leases that end without a result, with real processes: what a worker says too late does not count, not even after the node that gave the lease was killed. */
import { afterEach, expect, test } from "vitest";
import type { JobsClient, LeasedTask } from "@keelson/jobs";
import { FaultScene } from "./fault-scene.ts";
import { pause } from "./load.ts";

let scene: FaultScene | undefined;
afterEach(async () => {
  await scene?.stop();
  scene = undefined;
});

const TENANT = "-";

async function execute(client: JobsClient, command: object): Promise<unknown> {
  return client.calls.byTenant(TENANT, "write", "execute", command, { timeoutMs: 60_000 });
}

/** Asks until the job may be leased. */
async function lease(client: JobsClient, worker: string, leaseMs: number): Promise<LeasedTask> {
  for (;;) {
    const asked = { kind: "lease", group: "slow", worker, max: 1, leaseMs };
    const { tasks } = (await execute(client, asked)) as { tasks: readonly LeasedTask[] };
    const [task] = tasks;
    if (task !== undefined) return task;
    await pause(100);
  }
}

async function report(client: JobsClient, task: LeasedTask, said: string): Promise<unknown> {
  const outcome = { kind: "succeeded", result: Buffer.from(said) };
  const reports = [{ task: task.task, outcome }];
  const [answer] = (await execute(client, { kind: "report", reports })) as readonly unknown[];
  return answer;
}

test("a result from an expired lease is refused, and the next worker's counts, across kill -9 of the node", async () => {
  scene = await FaultScene.start("embedded", ["a", "b"]);
  const client = await scene.connect();
  await client.enqueue({ group: "slow", id: "j", payload: 1 });
  const first = await lease(client, "w1", 1_000);
  // Whichever of them has the shard: the lease is known to who comes after it.
  for (const node of ["a", "b"]) {
    await scene.fleet.kill(node);
    await scene.fleet.start(node);
  }
  // Long enough for a busy machine to come to its report.
  const second = await lease(client, "w2", 30_000);
  expect(second.task).not.toBe(first.task);
  expect(await report(client, first, "too late")).toMatchObject({ refused: "LEASE_NOT_FOUND" });
  expect((await client.get("j"))?.status).toBe("running");
  expect(await report(client, second, "in time")).toMatchObject({ done: true });
  // Said again, and refused again: one result is all there is.
  expect(await report(client, second, "again")).toMatchObject({ refused: "LEASE_NOT_FOUND" });
  const view = await client.get("j");
  expect(view?.status).toBe("succeeded");
  const outcome = view?.attempts.at(-1)?.outcome;
  expect(outcome?.kind === "succeeded" && Buffer.from(outcome.result).toString()).toBe("in time");
}, 240_000);
