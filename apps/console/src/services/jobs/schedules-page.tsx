/** Schedules: which jobs are made when, the next to run first; making and ending them. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { asProblem, type Problem } from "../../api/problem.ts";
import { get, path, request } from "../../api/request.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { formatDuration, formatTime } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { jobsHref, tenantHref, type Schedule } from "./jobs-api.ts";
import { payloadOf } from "./payload.ts";
import { useJobEvents } from "./use-job-events.ts";
import { useLiveAnswer } from "./use-live-answer.ts";
import "./jobs.css";

const ROWS_MAX = 1_000;

export function SchedulesPage(): JSX.Element {
  const { round } = useJobEvents();
  const [adding, setAdding] = useState(false);
  const { value, problem, again } = useLiveAnswer("schedules", round, (signal) =>
    get<{ schedules: readonly Schedule[] }>("/v1/jobs/schedules", { limit: ROWS_MAX }, signal),
  );
  return (
    <Page
      title="Schedules"
      about="What is made when, the next first"
      actions={
        <ActionButton service="jobs" scope="write" kind="primary" onClick={() => setAdding(true)}>
          New schedule
        </ActionButton>
      }
    >
      {problem && <ProblemNote problem={problem} again={again} />}
      {value && <ScheduleTable schedules={value.schedules} again={again} />}
      {adding && (
        <ScheduleDialog
          close={() => setAdding(false)}
          done={() => {
            setAdding(false);
            again();
          }}
        />
      )}
    </Page>
  );
}

export function ScheduleTable({
  schedules,
  again,
}: {
  readonly schedules: readonly Schedule[];
  readonly again: () => void;
}): JSX.Element {
  const columns: readonly Column<Schedule>[] = [
    { id: "id", title: "Schedule", width: "minmax(7rem, 1.5fr)", cell: ({ id }) => <code>{id}</code> },
    { id: "cron", title: "When", width: "minmax(6rem, 1fr)", cell: ({ cron }) => <code>{cron}</code> },
    { id: "zone", title: "Time zone", wide: true, cell: ({ timeZone }) => timeZone },
    {
      id: "next",
      title: "Next",
      width: "6.5rem",
      number: true,
      cell: ({ nextAtMs }) =>
        nextAtMs === undefined ? (
          "never"
        ) : (
          <time
            title={formatTime(nextAtMs)}
          >{`in ${formatDuration(Math.max(0, nextAtMs - Date.now()))}`}</time>
        ),
    },
    {
      id: "group",
      title: "Group",
      wide: true,
      cell: ({ job }) => <a href={jobsHref({ group: job.group })}>{job.group}</a>,
    },
    {
      id: "tenant",
      title: "Tenant",
      wide: true,
      cell: ({ tenant }) => <a href={tenantHref(tenant)}>{tenant}</a>,
    },
    { id: "end", title: "", width: "4.5rem", cell: (schedule) => <End schedule={schedule} done={again} /> },
  ];
  return (
    <Table
      label="Schedules"
      columns={columns}
      rows={schedules}
      keyOf={({ tenant, id }) => `${tenant} ${id}`}
      empty={<Empty title="There are no schedules">A schedule makes a job whenever its time comes.</Empty>}
    />
  );
}

function End({
  schedule: { tenant, id },
  done,
}: {
  readonly schedule: Schedule;
  readonly done: () => void;
}): JSX.Element {
  const ask = (): void =>
    confirm({
      title: `End the schedule ${id}?`,
      text: "It makes no more jobs. Those that it has made stay.",
      action: "End it",
      danger: true,
      async run() {
        await request("DELETE", path`/v1/jobs/tenants/${tenant}/schedules/${id}`);
        done();
        return `The schedule ${id} has ended.`;
      },
    });
  return (
    <ActionButton service="jobs" scope="write" kind="plain" onClick={ask}>
      End
    </ActionButton>
  );
}

function ScheduleDialog({
  close,
  done,
}: {
  readonly close: () => void;
  readonly done: () => void;
}): JSX.Element {
  const form = useId();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const send = async (data: FormData): Promise<void> => {
    if (busy) return;
    setBusy(true);
    const text = (name: string): string => {
      const value = data.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    try {
      await request("PUT", path`/v1/jobs/tenants/${text("tenant")}/schedules/${text("id")}`, {
        body: {
          cron: text("cron"),
          timeZone: text("timeZone"),
          job: { group: text("group"), payload: payloadOf(text("payload")) },
        },
      });
      done();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New schedule"
      close={close}
      actions={
        <>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" form={form} class="primary" disabled={busy}>
            Save
          </button>
        </>
      }
    >
      <form
        id={form}
        class="job-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send(new FormData(event.currentTarget));
        }}
      >
        <label class="field">
          Name
          <input name="id" required autocomplete="off" />
        </label>
        <label class="field">
          Tenant
          <input name="tenant" required defaultValue="-" autocomplete="off" />
        </label>
        <label class="field">
          When: minute hour day month weekday
          <input name="cron" class="mono" required defaultValue="0 * * * *" autocomplete="off" />
        </label>
        <label class="field">
          Time zone
          <input name="timeZone" required defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone} />
        </label>
        <label class="field all">
          Task group
          <input name="group" required autocomplete="off" />
        </label>
        <label class="field all">
          Payload: JSON, or text
          <textarea name="payload" class="mono" spellcheck={false} defaultValue="{}" />
        </label>
        {problem && (
          <div class="all">
            <ProblemNote problem={problem} />
          </div>
        )}
      </form>
    </Dialog>
  );
}
