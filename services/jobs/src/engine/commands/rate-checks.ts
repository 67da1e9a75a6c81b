/** Answers of an outside rate limiter. */
import { decodeBody } from "../codec/body.ts";
import { DONE, type Core } from "../core.ts";
import type { Command, Done } from "../model/command.ts";
import { retryAt } from "../scheduler/gate.ts";
import { rateKey } from "../state/binding.ts";
import { limitName } from "../state/limit-key.ts";

export function rateChecked(core: Core, command: Command<"rateChecked">): Done {
  const { check, allowed, refusedBy = 0, retryAtMs } = command;
  const { scheduler, state } = core;
  const job = scheduler.checks.get(check);
  // Cancelled meanwhile, or the question of an earlier process.
  if (job === undefined) return DONE;
  if (allowed) {
    scheduler.passCheck(job);
    return DONE;
  }
  const rates = decodeBody(job.body).limits?.filter((each) => each.kind === "rate") ?? [];
  const limit = rates[refusedBy] ?? rates[0];
  const key = limit && job.tenant.limits?.get(limitName("rate", rateKey(limit)));
  scheduler.dropCheck(job);
  if (key === undefined || limit === undefined)
    throw new Error(`job ${job.id} was checked without a rate limit`);
  scheduler.block(key, retryAt(state.wallMs, limit, retryAtMs));
  scheduler.wait(job, key);
  return DONE;
}
