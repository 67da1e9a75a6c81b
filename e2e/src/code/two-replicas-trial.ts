/** With two replicas the loss of a node fails no answer and makes none wrong: the other replica is asked before anybody notices. */
import { setTimeout as sleep } from "node:timers/promises";
import { judgeAuctions, type CodeRun, type Trial } from "./code-run.ts";
import { QueryLoad } from "./query-load.ts";

/** Requires a run of two replicas, filled. `quick` holds auctions to a second. */
export async function twoReplicasTrial(run: CodeRun, quick: boolean): Promise<Trial> {
  const { fleet, terms } = run;
  await run.replicated();
  const load = new QueryLoad(fleet, run.expected, 4);
  await sleep(1_000);
  await run.kill("n1");
  run.say("kill -9 of a node, under load");
  await sleep(terms.ttlMs + 2_000);
  const { failed, wrong, codes, whole, partial } = await load.stop();
  await run.replicated();
  const auctions = judgeAuctions(await run.auctions(), quick);
  const broken = [...auctions.broken];
  if (failed.length > 0) broken.push(`${failed.length} searches failed: ${failed[0]}`);
  if (wrong.length > 0) broken.push(`${wrong.length} answers were wrong: ${wrong[0]}`);
  if (partial > 0) broken.push(`${partial} answers lacked something: ${JSON.stringify([...codes])}`);
  if (whole < 10) broken.push(`only ${whole} searches were answered`);
  if (run.rssShareMax > 1.1) broken.push(`a process took ${run.rssShareMax} of its memory`);
  return {
    figures: {
      answers: whole + partial,
      failed: failed.length,
      wrong: wrong.length,
      partial,
      rssShareMax: run.rssShareMax,
      ...auctions.figures,
    },
    broken,
  };
}
