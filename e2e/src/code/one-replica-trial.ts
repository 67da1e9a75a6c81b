/**
 * With one replica the loss of a node leaves a gap: every answer says what it lacks and is right in the rest, and the gap closes when the session has ended, the
 * lost repositories were auctioned, and their new holders have built them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { judgeAuctions, type CodeRun, type Trial } from "./code-run.ts";
import { QueryLoad } from "./query-load.ts";

/** What an answer may say of a repository that nobody holds, or that is being built. */
const GAPS = new Set(["WARMING", "NO_HOLDER", "UNREACHABLE", "CUT", "BUDGET", "TIMEOUT"]);

/** Requires a run of one replica, filled. `buildMs` is what auctions and builds after the TTL may take. */
export async function oneReplicaTrial(run: CodeRun, buildMs: number, quick: boolean): Promise<Trial> {
  const { fleet, terms } = run;
  const where = await run.settled();
  const lost = [...where.values()].filter((node) => node === "n1").length;
  const load = new QueryLoad(fleet, run.expected, 4);
  await sleep(500);
  await run.kill("n1");
  const killedAt = performance.now();
  run.say(`kill -9 of a node with ${lost} repositories, under load`);
  await sleep(terms.ttlMs);
  await run.whole();
  // The last answer with a gap may still be under way.
  await sleep(1_000);
  const { failed, wrong, codes, whole, partial, lastPartialAt } = await load.stop();
  const closedMs = Math.max(0, lastPartialAt - killedAt);
  const auctions = judgeAuctions(await run.auctions(), quick);
  const broken = [...auctions.broken];
  if (failed.length > 0) broken.push(`${failed.length} searches failed: ${failed[0]}`);
  if (wrong.length > 0) broken.push(`${wrong.length} answers were wrong: ${wrong[0]}`);
  if (lost > 0 && partial === 0) broken.push("no answer said that something was missing");
  const others = [...codes.keys()].filter((code) => !GAPS.has(code));
  if (others.length > 0) broken.push(`gaps were told as ${others.join()}`);
  if (closedMs > terms.ttlMs + buildMs) broken.push(`the gap closed after ${Math.round(closedMs)} ms`);
  if (run.rssShareMax > 1.1) broken.push(`a process took ${run.rssShareMax} of its memory`);
  return {
    figures: {
      lostRepositories: lost,
      answers: whole + partial,
      failed: failed.length,
      wrong: wrong.length,
      partial,
      closedMs,
      closedAfterTtlMs: closedMs - terms.ttlMs,
      rssShareMax: run.rssShareMax,
      ...auctions.figures,
    },
    broken,
  };
}
