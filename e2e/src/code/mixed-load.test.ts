/** What a node takes while everything goes on at once: its process is looked at while repositories come and go, are pushed to, and are searched with answers as large as they may be. */
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "@keelson/testkit/servers";
import { expect, test } from "vitest";
import { CodeProcesses } from "./code-processes.ts";
import { eventually } from "./eventually.ts";

const MEMORY_MB = 224;
/** Of 4 MB each, more than the node has room for. */
const [REPOSITORIES, FILES, LINES] = [8, 40, 2_000];
const SEARCHERS = 8;
/** On a busy machine fewer of them happen, and the test asks for one of each. */
const [LOAD_MS, EVICTIONS, BUILDS] = [5_000, 4, 16];

const OPTIONS = { MaxDocDisplayCount: 10_000, ShardMaxMatchCount: 1e9, TotalMaxMatchCount: 1e9 };

test("builds, evictions, pushes and large answers at once take no more than 1.1 times the memory of their node", async () => {
  const server = await startRedis();
  const fleet = new CodeProcesses({
    storeUrl: server.url,
    replicas: 1,
    ttlMs: 10_000,
    memoryMb: MEMORY_MB,
    guessMb: 4,
    workers: 2,
    settings: ["evictIdleMs = 0", "evictResidenceMs = 500", "pollMs = 1000"],
  });
  const names = Array.from({ length: REPOSITORIES }, (_, i) => `mixed${i}`);
  let stopped = false;
  let answers = 0;
  let load: Promise<unknown> = Promise.resolve();
  try {
    const started = fleet.start(1);
    started.catch(() => undefined);
    // While the processes start, which takes as long.
    const repositories = names.map((name) => ({ name, url: fleet.generate(name, FILES, LINES) }));
    await started;
    await fleet.add(repositories);
    const happened = (): Promise<readonly [number, number]> =>
      fleet.metrics("n0", ["code_evictions_total", "index_time_ms_count"] as const);
    // Naming one that rests wakes it, and others make room: every search of a name may be the end of another's stay.
    const search = async (number: number): Promise<void> => {
      for (let i = number; !stopped; i++) {
        const query = `words to fill it${i % 2 === 0 ? "" : ` repo:^${names[i % names.length]}$`}`;
        const answer = await fleet.search(query, OPTIONS).catch(() => sleep(100));
        if (answer !== undefined && answer.Files.length > 0) answers++;
      }
    };
    const push = async (): Promise<void> => {
      for (let i = 0; !stopped; i++) {
        fleet.push(
          names[i % names.length]!,
          `pushed${i % 9}.txt`,
          `push ${i}\n${"pushed words to fill it\n".repeat(4_000)}`,
        );
        await sleep(300);
      }
    };
    load = Promise.all([push(), ...Array.from({ length: SEARCHERS }, (_, i) => search(i))]);
    load.catch(() => undefined);
    const enough = async (): Promise<boolean> => {
      const [evictions, builds] = await happened();
      return evictions >= EVICTIONS && builds >= BUILDS;
    };
    await eventually("much has happened", enough, LOAD_MS).catch(() => undefined);
    await eventually(
      "each has happened",
      async () => answers > 0 && (await happened()).every((count) => count > 0),
      60_000,
    );
    expect(fleet.rssBytesMax("n0") / 2 ** 20).toBeLessThanOrEqual(1.1 * MEMORY_MB);
  } finally {
    stopped = true;
    // Searches that are under way end with their gateway.
    await fleet.stop();
    await server.stop();
    await load;
    fleet.remove();
  }
}, 180_000);
