/** Enqueues one job by hand. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useId, useState } from "preact/hooks";
import { asProblem, type Problem } from "../../api/problem.ts";
import { path, request } from "../../api/request.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useCommands } from "../../ui/shortcuts.ts";
import { toast } from "../../ui/toast.tsx";
import { refusal } from "../../api/session.ts";
import { jobHref } from "./jobs-api.ts";
import { payloadOf } from "./payload.ts";

interface Names {
  readonly groups?: readonly { readonly group: string }[] | undefined;
  readonly tenant?: string;
}

export function EnqueueButton(names: Names): JSX.Element {
  const [open, setOpen] = useState(false);
  useCommands(() => [
    {
      keys: "e",
      title: "Enqueue a job",
      group: "Jobs",
      run: () => {
        if (refusal("jobs", "write") === undefined) setOpen(true);
      },
    },
  ]);
  return (
    <>
      <ActionButton service="jobs" scope="write" kind="primary" onClick={() => setOpen(true)}>
        Enqueue a job
      </ActionButton>
      {open && <EnqueueDialog {...names} close={() => setOpen(false)} />}
    </>
  );
}

function EnqueueDialog({
  groups = [],
  tenant = "-",
  close,
}: Names & { readonly close: () => void }): JSX.Element {
  const { route } = useLocation();
  const form = useId();
  const list = useId();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const send = async (element: HTMLFormElement): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const { tenant: whose, body } = jobOf(new FormData(element));
      const { id } = await request<{ id: string }>("POST", path`/v1/jobs/tenants/${whose}/jobs`, { body });
      toast("The job is enqueued.");
      close();
      route(jobHref({ tenant: whose, id }));
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Enqueue a job"
      close={close}
      actions={
        <>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" form={form} class="primary" disabled={busy}>
            Enqueue
          </button>
        </>
      }
    >
      <form
        id={form}
        class="job-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <label class="field">
          Task group
          <input
            name="group"
            required
            maxLength={64}
            list={list}
            autocomplete="off"
            defaultValue={groups[0]?.group ?? ""}
          />
        </label>
        <datalist id={list}>
          {groups.map(({ group }) => (
            <option key={group} value={group} />
          ))}
        </datalist>
        <label class="field">
          Tenant
          <input name="tenant" required maxLength={64} autocomplete="off" defaultValue={tenant} />
        </label>
        <label class="field all">
          Payload: JSON, or text
          <textarea name="payload" class="mono" spellcheck={false} defaultValue="{}" />
        </label>
        <label class="field">
          Priority, 0 first
          <input name="priority" type="number" min={0} max={99} defaultValue="50" />
        </label>
        <label class="field">
          Retries
          <input name="retries" type="number" min={0} max={1000} defaultValue="0" />
        </label>
        <label class="field">
          Starts in seconds
          <input name="delay" type="number" min={0} defaultValue="0" />
        </label>
        <label class="field">
          Id, or none
          <input name="id" autocomplete="off" />
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

/** What the form says, as the API takes it; what was left out or is the default is not sent. */
function jobOf(form: FormData): { tenant: string; body: Readonly<Record<string, unknown>> } {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const [retries, delay, id] = [Number(text("retries")), Number(text("delay")), text("id")];
  return {
    tenant: text("tenant"),
    body: {
      group: text("group"),
      payload: payloadOf(text("payload")),
      priority: Number(text("priority")),
      ...(retries > 0 ? { retry: { retries } } : {}),
      ...(delay > 0 ? { startAtMs: Date.now() + delay * 1_000 } : {}),
      ...(id === "" ? {} : { id }),
    },
  };
}
