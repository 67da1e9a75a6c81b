/** Who asked this gateway for what, from where, and what became of it: actions and tries alike, the newest first. */
import type { JSX } from "preact";
import { get } from "../api/request.ts";
import { Empty } from "../ui/empty.tsx";
import { formatDate, formatTime } from "../ui/format.ts";
import { Page } from "../ui/page.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { useAnswer } from "../ui/use-answer.ts";

interface AuditEntry {
  readonly seq: number;
  readonly at: number;
  readonly who: string;
  readonly from: string;
  readonly action: string;
  readonly about?: Readonly<Record<string, string>>;
  readonly outcome: "done" | "refused" | "failed";
  readonly status: number;
  readonly code?: string;
}

const ENTRIES = 500;

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: "at",
    title: "When",
    width: "minmax(5rem, 11rem)",
    cell: ({ at }) => <span title={formatDate(at)}>{formatTime(at)}</span>,
  },
  { id: "who", title: "Who", cell: ({ who }) => who },
  { id: "action", title: "Did", cell: ({ action }) => action },
  {
    id: "about",
    title: "To",
    wide: true,
    cell: ({ about = {} }) => Object.values(about).join("/"),
  },
  {
    id: "outcome",
    title: "Outcome",
    width: "minmax(5rem, 12rem)",
    cell: ({ outcome, code }) => (
      <span class={outcome === "done" ? "" : "state-unheld"}>
        {outcome}
        {code === undefined ? "" : ` (${code})`}
      </span>
    ),
  },
  { id: "from", title: "From", wide: true, cell: ({ from }) => from },
];

export default function AuditPage(): JSX.Element {
  const { value, problem, again, loading } = useAnswer("audit", (signal) =>
    get<{ readonly entries: readonly AuditEntry[] }>("/v1/fleet/audit", { limit: ENTRIES }, signal),
  );
  return (
    <Page
      title="Audit"
      about="who asked this gateway for what, the newest first"
      actions={
        <button type="button" onClick={again} disabled={loading}>
          Look again
        </button>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      {value && (
        <Table
          label="Audit"
          columns={COLUMNS}
          rows={value.entries}
          keyOf={({ seq }) => seq}
          rowsMax={22}
          empty={<Empty title="Nobody has done anything yet">Looking is not an action.</Empty>}
        />
      )}
    </Page>
  );
}
