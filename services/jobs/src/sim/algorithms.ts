/** The simplest algorithms that can be checked from outside: a rate limit that spaces its grants, and schedules that fire at every multiple of a period. */
import type { CronAlgorithm, RateAlgorithm } from "../engine/model/ports.ts";

/** Two grants of a bucket are at least duration/limit apart. */
export const spacing: RateAlgorithm = {
  hit(state, { durationMs, limit }, wallMs) {
    const openAtMs = state === undefined ? 0 : Number(state);
    const allowed = wallMs >= openAtMs;
    const nextMs = allowed ? wallMs + Math.ceil(durationMs / limit) : openAtMs;
    return { state: String(nextMs), allowed, retryAtMs: allowed ? undefined : openAtMs, forgetAtMs: nextMs };
  },
};

/** `every <ms>`. */
export const everySoOften: CronAlgorithm = {
  problem: (cron) => (/^every \d+$/.test(cron) ? undefined : `"${cron}" is not "every <ms>"`),
  next: (cron, _timeZone, afterMs) => {
    const period = Number(cron.slice("every ".length));
    return (Math.floor(afterMs / period) + 1) * period;
  },
};
