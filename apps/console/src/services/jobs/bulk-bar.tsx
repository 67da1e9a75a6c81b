/** Does something to many jobs: those that are chosen, or all of a tenant that the filter finds. It asks first, and says what was refused. */
import type { JSX } from "preact";
import { ActionButton } from "../../ui/action-button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { plural } from "../../ui/format.ts";
import { bulk, type BulkAnswer, type Job, type JobStatus } from "./jobs-api.ts";

interface Where {
  readonly tenant: string;
  readonly status: string;
  readonly group: string;
  readonly metadata: string;
}

type Action = "cancel" | "restart";

/** In which states an action makes sense. */
const STATES: Readonly<Record<Action, readonly JobStatus[]>> = {
  cancel: ["scheduled", "running"],
  restart: ["failed", "cancelled"],
};
const WORDS: Readonly<
  Record<Action, { readonly verb: string; readonly done: string; readonly text: string }>
> = {
  cancel: { verb: "Cancel", done: "cancelled", text: "Workers that run one of them are told to stop." },
  restart: { verb: "Restart", done: "restarted", text: "They run again from their first attempt." },
};
/** Calls of a thousand jobs each. */
const CALLS_MAX = 100;

export function BulkBar({
  jobs,
  where,
  done,
  clear,
}: {
  readonly jobs: readonly Job[];
  /** Undefined: jobs of all tenants are shown, which cannot be steered together. */
  readonly where: Where | undefined;
  readonly done: () => void;
  readonly clear: () => void;
}): JSX.Element | null {
  const isChosen = jobs.length > 0;
  if (!isChosen && where === undefined) return null;
  return (
    <div class="row bulk" role="group" aria-label="Many jobs at once">
      <span class="grow">{isChosen ? `${plural(jobs.length, "job")} chosen` : "All that match"}</span>
      {(["cancel", "restart"] as const).map((action) => (
        <BulkButton key={action} action={action} jobs={jobs} where={where} done={done} />
      ))}
      {isChosen && (
        <button type="button" class="plain" onClick={clear}>
          Choose none
        </button>
      )}
    </div>
  );
}

function BulkButton({
  action,
  jobs,
  where,
  done,
}: {
  readonly action: Action;
  readonly jobs: readonly Job[];
  readonly where: Where | undefined;
  readonly done: () => void;
}): JSX.Element {
  const { verb, done: word, text } = WORDS[action];
  const fit = jobs.filter(({ status }) => STATES[action].includes(status));
  const isChosen = jobs.length > 0;
  const unavailable =
    isChosen && fit.length === 0 ? `None of them is ${STATES[action].join(" or ")}.` : undefined;
  const ask = (): void =>
    confirm({
      title: isChosen
        ? `${verb} ${plural(fit.length, "job")}?`
        : `${verb} all jobs of ${where?.tenant ?? ""} that match?`,
      text:
        isChosen && fit.length < jobs.length
          ? `${text} The others have another state, and stay as they are.`
          : text,
      // Beside the button that leaves, “Cancel” alone would say two things.
      action: isChosen ? `${verb} ${plural(fit.length, "job")}` : `${verb} them`,
      danger: action === "cancel",
      async run() {
        const answers = isChosen ? await byTenant(action, fit) : await byFilter(action, where!);
        done();
        const count = answers.reduce((sum, answer) => sum + answer.done, 0);
        const refused = answers.flatMap((answer) => answer.refused);
        const said = `${plural(count, "job")} ${word}.`;
        return refused.length === 0
          ? said
          : `${said} ${refused.length} refused: ${refused[0]?.message ?? ""}.`;
      },
    });
  return (
    <ActionButton service="jobs" scope="write" unavailable={unavailable} onClick={ask}>
      {isChosen ? verb : `${verb} all`}
    </ActionButton>
  );
}

async function byTenant(action: Action, jobs: readonly Job[]): Promise<readonly BulkAnswer[]> {
  const answers: BulkAnswer[] = [];
  for (const tenant of new Set(jobs.map((job) => job.tenant))) {
    const ids = jobs.filter((job) => job.tenant === tenant).map(({ id }) => id);
    // A thousand is what one call takes.
    for (let at = 0; at < ids.length; at += 1_000)
      answers.push(await bulk(tenant, { action, ids: ids.slice(at, at + 1_000) }));
  }
  return answers;
}

async function byFilter(
  action: Action,
  { tenant, status, group, metadata }: Where,
): Promise<readonly BulkAnswer[]> {
  const [metadataKey = "", ...value] = metadata.split("=");
  const where = {
    ...(status === "" ? {} : { status }),
    ...(group === "" ? {} : { group }),
    ...(metadataKey === "" ? {} : { metadataKey, metadataValue: value.join("=") }),
  };
  const answers: BulkAnswer[] = [];
  let before: string | undefined;
  for (let call = 0; call < CALLS_MAX; call++) {
    const answer = await bulk(tenant, { action, where, ...(before === undefined ? {} : { before }) });
    answers.push(answer);
    before = answer.next;
    if (before === undefined) break;
  }
  return answers;
}
