/** One job: its state, what it was asked to do, every attempt with what came of it; and what can be done about it. */
import type { ComponentChildren, JSX } from "preact";
import { useLocation } from "preact-iso";
import { ActionButton } from "../../ui/action-button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { formatAgo, formatDuration, formatTime } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import type { ServicePageProps } from "../pages.ts";
import { AttemptList } from "./attempt-list.tsx";
import {
  jobHref,
  jobsHref,
  readJob,
  steer,
  tenantHref,
  type Job,
  type JobStatus,
  type Steering,
} from "./jobs-api.ts";
import { shown } from "./payload.ts";
import { LiveMark, StatusMark } from "./status-mark.tsx";
import { useJobEvents } from "./use-job-events.ts";
import { useLiveAnswer } from "./use-live-answer.ts";
import "./jobs.css";

interface Act {
  readonly action: Steering | "delete";
  readonly title: string;
  readonly states: readonly JobStatus[];
  readonly text: string;
  readonly done: string;
  readonly kind?: "primary";
}

const ACTS: readonly Act[] = [
  {
    action: "restart",
    title: "Restart",
    states: ["failed", "cancelled"],
    text: "It runs again, with all its retries. Earlier attempts stay on record.",
    done: "It runs again.",
    kind: "primary",
  },
  {
    action: "expedite",
    title: "Run now",
    states: ["scheduled"],
    text: "It no longer waits for its start time.",
    done: "It may start.",
  },
  {
    action: "cancel",
    title: "Cancel",
    states: ["scheduled", "running"],
    text: "A worker that runs it is told to stop.",
    done: "It is cancelled, or will be when its worker stops.",
  },
  {
    action: "delete",
    title: "Delete",
    states: ["succeeded", "failed", "cancelled"],
    text: "It is forgotten, with its result.",
    done: "It is forgotten.",
  },
];

export function JobPage({ params }: ServicePageProps): JSX.Element {
  const { tenant = "", id = "" } = params;
  const { round, live } = useJobEvents({ tenant, id });
  const { value, problem, again } = useLiveAnswer(`${tenant} ${id}`, round, (signal) =>
    readJob(tenant, id, signal),
  );
  const { route } = useLocation();
  return (
    <Page
      title={id}
      about={
        <span class="row">
          {value && <StatusMark status={value.status} />}
          <LiveMark live={live} />
        </span>
      }
      actions={value && <Actions job={value} again={again} leave={() => route(jobsHref({ tenant }))} />}
    >
      {problem && <ProblemNote problem={problem} again={again} />}
      {value && <Details job={value} />}
    </Page>
  );
}

function Actions({
  job,
  again,
  leave,
}: {
  readonly job: Job;
  readonly again: () => void;
  readonly leave: () => void;
}): JSX.Element {
  const { tenant, id, status } = job;
  const ask = ({ action, title, text, done }: Act): void =>
    confirm({
      title: `${title}: ${id}?`,
      text,
      action: action === "expedite" ? title : `${title} the job`,
      danger: action === "cancel" || action === "delete",
      async run() {
        await steer(action, tenant, id);
        if (action === "delete") leave();
        else again();
        return done;
      },
    });
  return (
    <>
      {ACTS.filter(({ states }) => states.includes(status)).map((act) => (
        <ActionButton
          key={act.action}
          service="jobs"
          scope="write"
          kind={act.kind ?? ""}
          onClick={() => ask(act)}
        >
          {act.title}
        </ActionButton>
      ))}
    </>
  );
}

function Details({ job }: { readonly job: Job }): JSX.Element {
  const { attempts, payload, progress, retry, after = [], limits = [], timeoutMs } = job;
  const last = attempts.at(-1);
  return (
    <>
      <dl class="facts card">
        <Fact name="Tenant">
          <a href={tenantHref(job.tenant)}>{job.tenant}</a>
        </Fact>
        <Fact name="Task group">
          <a href={jobsHref({ group: job.group })}>{job.group}</a>
        </Fact>
        <Fact name="Enqueued">{time(job.enqueuedAtMs)}</Fact>
        {job.status === "scheduled" && (
          <Fact name="Waits for">
            {job.waitsFor === "start"
              ? `its time, ${formatTime(job.startAtMs)}`
              : (job.waitsFor ?? "a worker")}
          </Fact>
        )}
        <Fact name="Changed">{time(job.statusAtMs)}</Fact>
        {last?.finishedAtMs !== undefined && (
          <Fact name="In all">{formatDuration(last.finishedAtMs - job.enqueuedAtMs)}</Fact>
        )}
        <Fact name="Priority">{job.priority}</Fact>
        <Fact name="Tries">
          {last?.number ?? 0}
          {retry === undefined ? "" : ` of ${retry.retries + 1}`}
        </Fact>
        {timeoutMs !== undefined && <Fact name="May take">{formatDuration(timeoutMs)}</Fact>}
        {job.lostLeases > 0 && <Fact name="Lost by workers">{job.lostLeases}</Fact>}
        {job.expiresAtMs !== undefined && <Fact name="Kept until">{formatTime(job.expiresAtMs)}</Fact>}
        {limits.map((limit, index) => (
          <Fact key={index} name="Limit">
            <code>{limit.key ?? limit.name}</code> {limit.max ?? limit.limit ?? limit.defaultMax}
          </Fact>
        ))}
        {Object.entries(job.metadata).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
        {after.length > 0 && (
          <Fact name="After">
            {after.map((id) => (
              <a key={id} class="after" href={jobHref({ tenant: job.tenant, id })}>
                {id}
              </a>
            ))}
          </Fact>
        )}
      </dl>
      {progress !== undefined && (
        <section class="stack">
          <h2>Progress</h2>
          <pre class="card value">{shown(progress)}</pre>
        </section>
      )}
      <section class="stack">
        <h2>Payload</h2>
        <pre class="card value">{shown(payload)}</pre>
      </section>
      <section class="stack">
        <h2>Attempts</h2>
        <AttemptList attempts={attempts} />
      </section>
    </>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function time(at: number): JSX.Element {
  return <time title={formatTime(at)}>{formatAgo(at)}</time>;
}
