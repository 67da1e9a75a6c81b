/**
 * What the demo puts into a new fleet, as data: a repository, a few schedules, and jobs that succeed, that fail once and then succeed, and that fail for good. Every
 * name begins with `demo`, so that nobody takes it for their own, and removing it removes nothing else. Jobs of the demo are forgotten an hour after their end.
 */
import type { NewJob } from "@keelson/jobs";

export const DEMO_TENANT = "demo";
/** The name that the project's own repository is searched by. */
export const DEMO_REPOSITORY = "demo/keelson";
export const DEMO_GROUPS = ["demo-mail", "demo-images", "demo-reports"] as const;

type DemoGroup = (typeof DEMO_GROUPS)[number];

/** What a job of the demo asks of its worker. */
export interface DemoPayload {
  readonly task: string;
  readonly takesMs: number;
  /** On which attempts it fails; left out, on none. */
  readonly fails?: "once" | "always";
}

export type DemoJob = NewJob & { readonly group: DemoGroup; readonly payload: DemoPayload };

export interface DemoSchedule {
  readonly id: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: "skip";
  readonly job: DemoJob;
}

const RETENTION_MS = 3_600_000;
const RETRY = { retries: 3, initialMs: 2_000, maxMs: 30_000, factor: 2, jitter: true };
/** Two pictures at a time, whoever asks. */
const LIMIT = { kind: "concurrency", key: "demo-gpu", max: 2 } as const;

function job(
  group: DemoGroup,
  payload: DemoPayload,
  more: Omit<Partial<NewJob>, "group" | "payload"> = {},
): DemoJob {
  return { group, payload, retentionMs: RETENTION_MS, ...more };
}

/** The job of this schedule makes others, so that there is always something to look at. */
export const TRAFFIC_TASK = "receive visitors";

export const SCHEDULES: readonly DemoSchedule[] = [
  {
    id: "demo-visitors",
    cron: "* * * * *",
    timeZone: "UTC",
    missed: "skip",
    job: job("demo-reports", { task: TRAFFIC_TASK, takesMs: 300 }),
  },
  {
    id: "demo-digest",
    cron: "*/5 * * * *",
    timeZone: "UTC",
    missed: "skip",
    job: job("demo-mail", { task: "send the digest", takesMs: 4_000 }),
  },
  {
    id: "demo-nightly-report",
    cron: "30 3 * * *",
    timeZone: "Europe/Berlin",
    missed: "skip",
    job: job("demo-reports", { task: "write the nightly report", takesMs: 8_000 }),
  },
];

/** Something of everything, for whoever looks in the first minute. Ids are fixed, so that a second start adds nothing. */
export function firstJobs(nowMs: number): readonly DemoJob[] {
  const mail = Array.from({ length: 12 }, (_, n) =>
    job(
      "demo-mail",
      { task: `welcome visitor ${n + 1}`, takesMs: 150 + 90 * n },
      { id: `demo-welcome-${n + 1}` },
    ),
  );
  const images = Array.from({ length: 6 }, (_, n) =>
    job(
      "demo-images",
      { task: `resize picture ${n + 1}`, takesMs: 1_500 },
      { id: `demo-picture-${n + 1}`, limits: [LIMIT] },
    ),
  );
  return [
    ...mail,
    ...images,
    job(
      "demo-mail",
      { task: "call a server that is busy at first", takesMs: 400, fails: "once" },
      { id: "demo-retried", retry: RETRY },
    ),
    job(
      "demo-mail",
      { task: "write to an address that is not there", takesMs: 300, fails: "always" },
      { id: "demo-failed", retry: { ...RETRY, retries: 1 } },
    ),
    job(
      "demo-reports",
      { task: "put the pictures together", takesMs: 2_000 },
      { id: "demo-album", after: images.map(({ id }) => id ?? "") },
    ),
    job(
      "demo-reports",
      { task: "remind somebody tomorrow", takesMs: 200 },
      { id: "demo-reminder", startAtMs: nowMs + 86_400_000 },
    ),
  ];
}

/** The jobs of one minute, spread over it: mostly mail, some pictures, now and then one that fails. `draw` gives numbers from [0, 1). */
export function visitors(nowMs: number, draw: () => number): readonly DemoJob[] {
  const count = 8 + Math.floor(draw() * 16);
  return Array.from({ length: count }, (_, n) => {
    const startAtMs = nowMs + Math.floor((n / count) * 60_000);
    const takesMs = 50 + Math.floor(draw() ** 3 * 3_000);
    const kind = draw();
    if (kind < 0.25)
      return job(
        "demo-images",
        { task: "resize a picture", takesMs: 500 + takesMs },
        { startAtMs, limits: [LIMIT] },
      );
    const fails = kind < 0.37 ? "once" : kind < 0.41 ? "always" : undefined;
    const payload: DemoPayload = {
      task: "welcome a visitor",
      takesMs,
      ...(fails === undefined ? {} : { fails }),
    };
    return job("demo-mail", payload, { startAtMs, retry: { ...RETRY, retries: 2 } });
  });
}
