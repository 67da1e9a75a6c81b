/** A planned leave sends its indexes on: nothing is built again, and no answer lacks anything meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CodeRun, Trial } from "./code-run.ts";
import { QueryLoad } from "./query-load.ts";

const BUILT = 'index_time_ms_count{how="built"}';

/** Requires a run that is whole. Takes away the node that holds the most. */
export async function drainTrial(run: CodeRun): Promise<Trial> {
  const { fleet } = run;
  const held = new Map<string, number>();
  for (const node of (await run.settled()).values()) held.set(node, (held.get(node) ?? 0) + 1);
  const [drained = "", count = 0] = [...held].sort(([, a], [, b]) => b - a)[0] ?? [];
  const others = [...fleet.nodes.keys()].filter((node) => node !== drained);
  const sum = async (metric: string): Promise<number> => {
    const each = await Promise.all(others.map((node) => fleet.metric(node, metric)));
    return each.reduce((total, value) => total + value, 0);
  };
  const before = { built: await sum(BUILT), received: await sum("code_indexes_received_total") };
  run.say(`drain of ${drained}, which holds ${count} repositories, under load`);
  const load = new QueryLoad(fleet, run.expected, 2);
  const startedAt = performance.now();
  await fleet.drain(drained, run.terms.stepMs);
  const drainMs = performance.now() - startedAt;
  await sleep(500);
  const { failed, wrong, whole, partial, codes } = await load.stop();
  await run.whole();
  const built = (await sum(BUILT)) - before.built;
  const received = (await sum("code_indexes_received_total")) - before.received;
  const broken = [];
  if (built > 0) broken.push(`${built} indexes were built again`);
  if (received < count) broken.push(`${received} indexes were received, and ${count} were held`);
  if (failed.length > 0) broken.push(`${failed.length} searches failed: ${failed[0]}`);
  if (wrong.length > 0) broken.push(`${wrong.length} answers were wrong: ${wrong[0]}`);
  if (partial > 0) broken.push(`${partial} answers lacked something: ${JSON.stringify([...codes])}`);
  return {
    figures: {
      drained: count,
      drainMs,
      built,
      received,
      answers: whole + partial,
      failed: failed.length,
      partial,
    },
    broken,
  };
}
