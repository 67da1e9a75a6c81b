/** What large answers cost a node: its process is looked at while it answers many searches that find hundreds of thousands of lines. */
import { startRedis } from "@keelson/testkit/servers";
import { expect, test } from "vitest";
import { CodeProcesses } from "./code-processes.ts";
import { eventually } from "./eventually.ts";

const MEMORY_MB = 224;
const [FILES, LINES, SEARCHES] = [175, 2_000, 12];

test("twelve searches at once that find 350,000 lines each take no more than 1.1 times the memory of their node", async () => {
  const server = await startRedis();
  const fleet = new CodeProcesses({
    storeUrl: server.url,
    replicas: 1,
    ttlMs: 10_000,
    memoryMb: MEMORY_MB,
  });
  try {
    await fleet.start(1);
    await fleet.add([{ name: "big", url: fleet.generate("big", FILES, LINES) }]);
    const held = async (): Promise<boolean> => (await fleet.search("common_needle")).FileCount === FILES;
    await eventually("it is held", held, 60_000);
    const options = { MaxDocDisplayCount: 10_000, ShardMaxMatchCount: 1e9, TotalMaxMatchCount: 1e9 };
    const answers = await Promise.allSettled(
      Array.from({ length: SEARCHES }, () => fleet.search("words to fill it", options)),
    );
    const given = answers.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    // On a machine that is busy some may run out of time, or their repository may; what is answered says what it lacks.
    expect(given.length).toBeGreaterThan(0);
    const silent = given.filter(
      ({ Partial, Limits, Missing }) => !Partial || Limits.length + Missing.length === 0,
    );
    expect(silent).toEqual([]);
    expect(fleet.rssBytesMax("n0") / 2 ** 20).toBeLessThanOrEqual(1.1 * MEMORY_MB);
  } finally {
    await fleet.stop();
    await server.stop();
    fleet.remove();
  }
}, 180_000);
