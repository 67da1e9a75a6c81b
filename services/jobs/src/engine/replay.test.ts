import { describe, expect, it } from "vitest";
import { everySoOften, spacing } from "../sim/algorithms.ts";
import { Chance } from "../sim/chance.ts";
import { drawJob } from "../sim/jobs-drawn.ts";
import { drawKnobs } from "../sim/knobs.ts";
import { digestState } from "./checkpoint/digest.ts";
import { decodeJobPage, encodeJobPage } from "./checkpoint/job-page.ts";
import { encodeRest } from "./checkpoint/rest.ts";
import { Restore } from "./checkpoint/restore.ts";
import { Engine } from "./engine.ts";
import type { Command } from "./model/command.ts";

function newEngine(chance: Chance): Engine {
  return new Engine({ random: chance.next, rates: spacing, cron: everySoOften }, { leaseMs: 300 });
}

/** Any command, about jobs and tasks that may be there. */
function drawCommand(
  chance: Chance,
  knobs: ReturnType<typeof drawKnobs>,
  number: number,
  wallMs: number,
): Command {
  const tenant = `t${chance.whole(1, knobs.tenants)}`;
  const id = `j${chance.whole(1, number)}`;
  const group = `g${chance.whole(1, knobs.groups)}`;
  const task = chance.whole(1, number);
  const known = Array.from({ length: Math.min(10, number) }, (_, n) => `${tenant}/j${number - n}`);
  const outcome = chance.yes(0.7)
    ? ({ kind: "succeeded", result: Buffer.from("r") } as const)
    : ({ kind: "failed", code: "E", data: Buffer.from("d") } as const);
  const choices: (() => Command)[] = [
    () => ({ kind: "enqueue", jobs: [drawJob(chance, knobs, number + 1, known, wallMs)] }),
    () => ({
      kind: "enqueue",
      jobs: [{ ...drawJob(chance, knobs, number + 1, known, wallMs), retentionMs: 0 }],
    }),
    () => ({ kind: "enqueue", jobs: [drawJob(chance, knobs, number + 1, [], wallMs)] }),
    () => ({ kind: "lease", group, worker: "w", max: chance.whole(1, 3) }),
    () => ({ kind: "report", reports: [{ task, outcome }] }),
    () => ({ kind: "report", reports: [{ task, outcome }] }),
    () => ({ kind: "giveBack", worker: "w", tasks: [task] }),
    () => ({ kind: chance.pick(["cancel", "restart", "expedite", "delete"] as const), tenant, id }),
    () => ({ kind: "setTenant", tenant, weight: chance.whole(1, 3), paused: chance.yes(0.2) }),
    () => ({ kind: "setGroup", group, paused: chance.yes(0.2) }),
    () => ({
      kind: "putSchedule",
      schedule: {
        id: "s",
        tenant,
        cron: "every 500",
        timeZone: "UTC",
        missed: "all",
        job: { group, payload: Buffer.alloc(1) },
      },
    }),
    () => ({ kind: "tick" }),
  ];
  return chance.pick(choices)();
}

describe("records", () => {
  it("give the same state again, cut after any of them, with and without a checkpoint before", () => {
    for (let seed = 1; seed <= 12; seed++) {
      const chance = new Chance(seed);
      const knobs = { ...drawKnobs(chance), limited: 0.5, rated: 0.2, deduped: 0.3, flows: 0.2 };
      const live = newEngine(chance);
      let wallMs = 1_700_000_000_000;
      live.start({ wallMs, monoMs: 0 });
      // Follows record by record, as a crash after each of them would find it.
      const again = newEngine(chance);
      let restored: Engine | undefined;
      for (let step = 1; step <= 150; step++) {
        wallMs += chance.whole(0, 200);
        const command = drawCommand(chance, knobs, step, wallMs);
        const { records } = live.apply(command, { wallMs, monoMs: wallMs - 1_700_000_000_000 });
        for (const record of records) {
          again.replay(record);
          restored?.replay(record);
        }
        for (const each of restored === undefined ? [again] : [again, restored]) {
          each.state.wallMs = live.state.wallMs;
          expect(
            digestState(each.state) === digestState(live.state),
            `seed ${seed}, step ${step}, ${command.kind}`,
          ).toBe(true);
        }
        if (step === 75) restored = restoreFrom(live, again, chance);
      }
    }
  });
});

/** Through the pages of a checkpoint, which takes what has ended out of memory in both. */
function restoreFrom(live: Engine, again: Engine, chance: Chance): Engine {
  const pages: Buffer[] = [];
  live.state.pages.markAllDirty();
  live.state.pages.beginHandOver((page) => void pages.push(...encodeJobPage(page)));
  while (!live.state.pages.handOverSome(2));
  const engine = newEngine(chance);
  const restore = new Restore(engine.core);
  for (const page of pages) for (const stored of decodeJobPage(page)) restore.add(stored);
  restore.finish(encodeRest(live.state));
  for (const { state } of [live, again]) {
    for (const job of state.finished) state.drop(job);
    state.forgotten.clear();
  }
  return engine;
}
