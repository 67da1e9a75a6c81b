/**
 * A fleet that is too small for its repositories: what was asked for least makes room and is released, what is pinned stays, memory is never exceeded, nothing is passed round
 * for ever, and a webhook hears that more nodes are wanted.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CodeRun, type RunTerms, type Trial } from "./code-run.ts";
import { eventually } from "./eventually.ts";

/** Each repository has 6 MB of text and an index of no less, and a node has some 40 MB for all of them. */
const FILES = 4;
const LINES = 32_000;
const MEMORY_MB = 240;
/** What came within this stays. */
const residenceMs = 1_000;

export async function crowdTrial(terms: RunTerms, repositories: number): Promise<Trial> {
  const wishes: string[] = [];
  const hook = await listen((wish) => wishes.push(wish));
  const run = await CodeRun.start(
    { ...terms, nodes: 2, memoryMb: MEMORY_MB },
    {
      guessMb: 6,
      settings: [
        "evictIdleMs = 0",
        `evictResidenceMs = ${residenceMs}`,
        "[code.scale]",
        `webhook = "http://127.0.0.1:${(hook.address() as AddressInfo).port}/"`,
        "[code.auction]",
        "emptyPauseMs = 200",
        "emptiesMax = 2",
      ],
    },
  );
  try {
    return await judged(run, repositories, wishes);
  } finally {
    await run.stop();
    hook.close();
  }
}

async function judged(run: CodeRun, repositories: number, wishes: readonly string[]): Promise<Trial> {
  const { fleet, terms } = run;
  run.say(`${repositories} repositories of 6 MB on two nodes with some 40 MB each, two of them pinned`);
  const added = Array.from({ length: repositories }, (_, i) => ({
    name: `big${i}`,
    url: fleet.generate(`big${i}`, FILES, LINES),
    pinned: i < 2,
  }));
  // Only what was wanted later than others came may take their place: so these come first.
  const first = Math.floor(repositories / 2);
  await fleet.add(added.slice(0, first));
  for (const { name } of added.slice(0, first))
    await eventually(`${name} is held`, () => isHeld(run, name), terms.stepMs);
  await sleep(residenceMs);
  await fleet.add(added.slice(first));
  await eventually("evictions", async () => (await run.sum("code_evictions_total")) > 0, terms.stepMs);
  await eventually("the webhook hears of it", () => wishes.includes("up"), terms.stepMs);
  // Those that came later take the place of the others one by one: only then is it quiet.
  await eventually(
    "all are held, or rest, or are known to fit nowhere",
    async () =>
      (await fleet.status()).every(
        ({ state, demanded, replicas }) =>
          state === "resting" || demanded || replicas[0]?.index !== undefined,
      ),
    terms.stepMs,
  );
  await run.settled(5_000);
  const rows = await fleet.status();
  const resting = rows.filter(({ state }) => state === "resting").length;
  const held = rows.filter(({ replicas }) => replicas[0]?.node !== undefined).length;
  const demanded = rows.filter((row) => row.demanded).length;
  const pinned = rows.filter(({ pinned, replicas }) => pinned && replicas[0]?.node !== undefined).length;
  const evictions = await run.sum("code_evictions_total");
  await sleep(3_000);
  const evictedWhileQuiet = (await run.sum("code_evictions_total")) - evictions;
  const named = rows.find(({ state, pinned: kept }) => state === "resting" && !kept)?.name ?? "";
  if (named !== "") {
    await fleet.search(`common_needle repo:^${named}$`);
    await eventually("what is named comes back", () => isHeld(run, named), terms.stepMs);
  }
  const stillPinned = (await fleet.status()).filter(
    ({ pinned: kept, replicas }) => kept && replicas[0]?.node !== undefined,
  ).length;
  const broken = [];
  if (pinned < 2 || stillPinned < 2) broken.push("what was pinned was evicted");
  if (evictions >= repositories) broken.push(`${evictions} evictions: what was evicted took turns`);
  if (held + resting + demanded < repositories) broken.push("one is neither held nor resting nor demanded");
  if (resting === 0) broken.push("nothing rests, and not all fit");
  if (evictedWhileQuiet > 0) broken.push(`${evictedWhileQuiet} evictions while nobody asked for anything`);
  if (run.rssShareMax > 1.1) broken.push(`a process took ${run.rssShareMax} of its memory`);
  return {
    figures: {
      repositories,
      held,
      resting,
      demanded,
      evictions,
      evictedWhileQuiet,
      rssShareMax: run.rssShareMax,
    },
    broken,
  };
}

async function isHeld(run: CodeRun, wanted: string): Promise<boolean> {
  const rows = await run.fleet.status();
  return rows.some(({ name, replicas }) => name === wanted && replicas[0]?.index !== undefined);
}

async function listen(told: (wish: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      told((JSON.parse(text) as { wish: string }).wish);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
