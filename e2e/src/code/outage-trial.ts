/**
 * The store stands still for longer than sessions live. What is held is served until its deadline, then every answer says that it lacks everything; once the store is back it is served again by
 * those who have it in memory, and what is built is the little that a node lost which came back later than auctions wait for it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { judgeAuctions, type CodeRun, type Trial } from "./code-run.ts";
import { QueryLoad } from "./query-load.ts";

/** So much longer than a session lives. */
const beyondTtlMs = 3_000;
const BUILT = 'index_time_ms_count{how="built"}';
/** Of all that had been built: more than that was not kept. */
const builtShareMax = 0.25;

/** Requires a run that is filled. When `quick`, most of it must be kept: on a machine that is not ours alone nodes may be so slow that others are given what they have. */
export async function outageTrial(run: CodeRun, quick: boolean): Promise<Trial> {
  const { fleet, terms } = run;
  await run.replicated();
  await run.settled();
  const before = await run.sum(BUILT);
  const load = new QueryLoad(fleet, run.expected, 2);
  await sleep(500);
  const outMs = terms.ttlMs + beyondTtlMs;
  run.say(`the store stands still for ${outMs} ms, under load`);
  await run.signalStore("SIGSTOP");
  await sleep(outMs);
  await run.signalStore("SIGCONT");
  const backAt = performance.now();
  await run.whole();
  await run.replicated();
  // The last answer with a gap may still be under way.
  await sleep(1_000);
  const { failed, wrong, whole, partial, lastPartialAt } = await load.stop();
  const built = (await run.sum(BUILT)) - before;
  const auctions = judgeAuctions(await run.auctions(), false);
  const broken = [...auctions.broken];
  if (failed.length > 0) broken.push(`${failed.length} searches failed: ${failed[0]}`);
  if (wrong.length > 0) broken.push(`${wrong.length} answers were wrong: ${wrong[0]}`);
  if (partial === 0) broken.push("no answer said that something was missing");
  if (quick && built > builtShareMax * before) broken.push(`${built} of ${before} indexes were built again`);
  return {
    figures: {
      outMs,
      answers: whole + partial,
      failed: failed.length,
      wrong: wrong.length,
      partial,
      built,
      closedAfterBackMs: Math.max(0, lastPartialAt - backAt),
    },
    broken,
  };
}
