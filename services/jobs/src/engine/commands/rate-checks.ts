/** Answers of an outside rate limiter. */
import { decodeBody } from "../codec/body.ts";
import { DONE, type Core } from "../core.ts";
import type { Command, Done } from "../model/command.ts";
import { retryAt } from "../scheduler/gate.ts";

export function rateChecked(core: Core, { check, allowed, retryAtMs }: Command<"rateChecked">): Done {
  const { scheduler, state } = core;
  const job = scheduler.checks.get(check);
  // Cancelled meanwhile, or the question of an earlier process.
  if (job === undefined) return DONE;
  if (allowed) {
    scheduler.passCheck(job);
    return DONE;
  }
  const key = job.limits?.find(({ kind }) => kind === "rate");
  const limit = decodeBody(job.body).limits?.find((each) => each.kind === "rate");
  scheduler.dropCheck(job);
  if (key === undefined || limit === undefined)
    throw new Error(`job ${job.id} was checked without a rate limit`);
  scheduler.block(key, retryAt(state.wallMs, limit, retryAtMs));
  scheduler.wait(job, key);
  return DONE;
}
