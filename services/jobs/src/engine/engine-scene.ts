/** An engine on a bench: time that is set by hand, no jitter, and short ways to say what tests say often. */
import { everySoOften, spacing } from "../sim/algorithms.ts";
import { Engine } from "./engine.ts";
import type { Answer, Command, CommandKind } from "./model/command.ts";
import type { Effect } from "./model/effect.ts";
import type { AttemptOutcome, JobSpec } from "./model/job-spec.ts";
import type { EngineTerms } from "./model/ports.ts";
import { Queries } from "./views/queries.ts";
import type { JobView, LeasedTask } from "./model/views.ts";

export class EngineScene {
  wallMs = 1_700_000_000_000;
  monoMs = 0;
  readonly records: Buffer[] = [];
  readonly effects: Effect[] = [];
  readonly engine: Engine;
  readonly queries: Queries;

  constructor(terms: Partial<EngineTerms> = {}, limiter: "inside" | "outside" = "inside") {
    const rates = limiter === "inside" ? spacing : undefined;
    this.engine = new Engine({ random: () => 0.5, rates, cron: everySoOften }, terms);
    this.engine.start(this);
    this.queries = new Queries(this.engine.state, 1_000_000);
  }

  pass(ms: number): void {
    this.wallMs += ms;
    this.monoMs += ms;
  }

  do<K extends CommandKind>(command: Command<K>): Answer<K> {
    const { records, answer, effects } = this.engine.apply(command, {
      wallMs: this.wallMs,
      monoMs: this.monoMs,
    });
    this.records.push(...records);
    this.effects.push(...effects);
    return answer;
  }

  enqueue(...jobs: readonly JobSpec[]): Answer<"enqueue"> {
    return this.do({ kind: "enqueue", jobs });
  }

  lease(max = 1, group = "g", worker = "w"): readonly LeasedTask[] {
    const answer = this.do({ kind: "lease", group, worker, max });
    if ("refused" in answer) throw new Error(answer.message);
    return answer.tasks;
  }

  /** Which jobs a worker gets, in order. */
  leaseIds(max = 1, group = "g"): string[] {
    return this.lease(max, group).map(({ spec }) => spec.id);
  }

  report(task: LeasedTask | undefined, outcome: AttemptOutcome = done): Answer<"report">[number] {
    if (task === undefined) throw new Error("there was no task");
    return this.do({
      kind: "report",
      reports: [{ task: task.task, outcome }],
    })[0] as Answer<"report">[number];
  }

  get(id: string, tenant = "t"): JobView {
    const view = this.queries.get({ tenant, id });
    if (view === undefined) throw new Error(`there is no job ${id}`);
    return view;
  }
}

export const done: AttemptOutcome = { kind: "succeeded", result: Buffer.from("done") };
export const failed: AttemptOutcome = { kind: "failed", code: "E", data: Buffer.from("why") };

export function job(id: string, more: Partial<JobSpec> = {}): JobSpec {
  return { id, tenant: "t", group: "g", payload: Buffer.from(id), ...more };
}
