/** A push is searchable soon after its webhook, on whichever node it is held. */
import type { CodeRun, Trial } from "./code-run.ts";
import { eventually } from "./eventually.ts";

const PUSHES = 5;

export async function pushTrial(run: CodeRun): Promise<Trial> {
  const { fleet, terms } = run;
  run.say(`${PUSHES} pushes, each with its webhook`);
  const took: number[] = [];
  for (let i = 0; i < PUSHES; i++) {
    const name = `repo${i}`;
    fleet.push(name, `src/pushed${i}.txt`, `pushed_needle_${i}\n`);
    const startedAt = performance.now();
    const { status } = await fleet.post("/v1/code/webhook", { name });
    if (status !== 200) return { figures: { pushes: i }, broken: [`the webhook answered ${status}`] };
    await eventually(
      `push ${i} is found`,
      async () => (await fleet.search(`pushed_needle_${i}`)).FileCount === 1,
      terms.stepMs,
    );
    took.push(performance.now() - startedAt);
  }
  return { figures: { pushes: PUSHES, pushedMsMax: Math.max(...took) }, broken: [] };
}
