/**
 * Rules of the job queue that a run can do without, to see that the checkers notice. Each is broken where the simulator plays the part that keeps it (the journal,
 * the clock, the opener), or by putting the engine's state wrong just before a command, as a mistake of its own would have.
 */
import type { Engine } from "../engine/engine.ts";
import type { Answer, Command, CommandKind } from "../engine/model/command.ts";
import type { Instant } from "../engine/model/ports.ts";

export const JOBS_BREAKS = {
  "durable-answers": "an answer leaves only when its records are durable",
  "every-record": "whoever opens a shard replays every record that was acknowledged",
  "full-leases": "after a restart every lease has its full time again",
  "lease-deadline": "a result is refused once its lease has run out",
  "one-lease": "a job that is leased is leased to nobody else",
  limits: "a limit is never exceeded",
  "last-trigger": "the last trigger of a dedupe key is never lost",
} as const;

export type JobsBreak = keyof typeof JOBS_BREAKS;

/** How much slower the clock of a broken engine goes. */
const SLOWNESS = 2;

/** Puts the state wrong before the command, for the rules of which only the engine knows. */
export function sabotage(rule: JobsBreak, engine: Engine, command: Command): void {
  if (command.kind !== "lease") return;
  const { state, scheduler } = engine.core;
  if (rule === "one-lease") {
    for (const { job } of state.leases.values())
      if (job.group.name === command.group && job.queue === undefined) return scheduler.place(job);
  } else if (rule === "limits")
    for (const tenant of state.tenants.values())
      for (const key of tenant.limits?.values() ?? []) {
        if (key.kind !== "concurrency" || key.waiting === 0) continue;
        key.max += 1;
        scheduler.wake(key);
      }
}

/** What the engine takes the time for. */
export function toldTime(rule: JobsBreak | undefined, { wallMs, monoMs }: Instant): Instant {
  return { wallMs, monoMs: rule === "lease-deadline" ? monoMs / SLOWNESS : monoMs };
}

/** When whoever opens a shard believes that it is. */
export function openingTime(rule: JobsBreak | undefined, now: Instant, leaseMs: number): Instant {
  return rule === "full-leases" ? { ...now, monoMs: now.monoMs - leaseMs } : now;
}

/** An answer that is given with nothing done: a trigger that joins is acknowledged and forgotten. */
export function madeUpAnswer<K extends CommandKind>(
  rule: JobsBreak | undefined,
  engine: Engine,
  command: Command<K>,
): Answer<K> | undefined {
  const asked = command as Command;
  if (rule !== "last-trigger" || asked.kind !== "enqueue") return undefined;
  const joined = asked.jobs.map(({ tenant, dedupe }) =>
    dedupe === undefined ? undefined : engine.state.tenants.get(tenant)?.dedupes?.get(dedupe.key)?.next,
  );
  if (joined.length === 0 || joined.includes(undefined)) return undefined;
  return joined.map((job) => ({ id: job?.id ?? "", outcome: "joined" as const }));
}
