/** The repositories of the fleet: who holds them, at which commit, and what is wrong; adding and removing them. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { asProblem, type Problem } from "../../api/problem.ts";
import { request } from "../../api/request.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.tsx";
import { useAnswer } from "../../ui/use-answer.ts";
import { listRepositories, type RepositoryRow } from "./code-api.ts";
import { searchHref } from "./places.ts";
import { repositoryFilter } from "./query-filters.ts";
import "./code.css";

const ROWS_MAX = 1_000;

export function RepositoriesPage(): JSX.Element {
  const [name, setName] = useState("");
  const [adding, setAdding] = useState(false);
  const { value, problem, again } = useAnswer(name, (signal) =>
    listRepositories({ name, limit: ROWS_MAX }, signal),
  );
  const columns: readonly Column<RepositoryRow>[] = [
    {
      id: "name",
      title: "Repository",
      width: "minmax(9rem, 2fr)",
      cell: (row) => <a href={searchIn(row)}>{row.name}</a>,
    },
    { id: "state", title: "State", width: "6.5rem", cell: stateOf },
    {
      id: "commit",
      title: "Commit",
      width: "6.5rem",
      wide: true,
      cell: (row) => <code>{commitOf(row)}</code>,
    },
    { id: "nodes", title: "Held by", width: "6rem", wide: true, cell: nodesOf },
    {
      id: "files",
      title: "Files",
      width: "5rem",
      number: true,
      wide: true,
      cell: (row) => figure(row, "documents"),
    },
    {
      id: "lines",
      title: "Lines",
      width: "6rem",
      number: true,
      wide: true,
      cell: (row) => figure(row, "lines"),
    },
    { id: "problem", title: "Problem", cell: problemOf },
    { id: "remove", title: "", width: "6rem", cell: (row) => <Remove row={row} done={again} /> },
  ];
  return (
    <Page
      title="Repositories"
      about={value && `${value.total.toLocaleString("en")} in all`}
      actions={
        <>
          <button type="button" onClick={again}>
            Look again
          </button>
          <ActionButton service="code" scope="write" kind="primary" onClick={() => setAdding(true)}>
            Add a repository
          </ActionButton>
        </>
      }
    >
      <input
        type="search"
        data-search=""
        aria-label="Filter by name"
        placeholder="Filter by name"
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      {problem && <ProblemNote problem={problem} again={again} />}
      {value && (
        <Table
          label="Repositories"
          columns={columns}
          rows={value.repositories}
          keyOf={({ id }) => id}
          empty={
            <Empty title={name === "" ? "There are no repositories" : "None has this in its name"}>
              {name === "" && "Add one by its address. It can be searched seconds later."}
            </Empty>
          }
        />
      )}
      {value?.next !== undefined && <p class="muted">There are more: filter them by name.</p>}
      {adding && (
        <AddDialog
          close={() => setAdding(false)}
          added={() => {
            setAdding(false);
            again();
          }}
        />
      )}
    </Page>
  );
}

function searchIn({ name }: RepositoryRow): string {
  return searchHref({ text: `${repositoryFilter(name)} `, literal: false, matchCase: false });
}

function indexOf({ replicas }: RepositoryRow): RepositoryRow["replicas"][number]["index"] {
  return replicas.find(({ index }) => index)?.index;
}

function stateOf(row: RepositoryRow): string {
  return row.state === "resting" ? "resting" : indexOf(row) ? "searchable" : "loading";
}

function commitOf(row: RepositoryRow): string {
  return indexOf(row)?.heads[0]?.commit.slice(0, 8) ?? "";
}

function nodesOf({ replicas }: RepositoryRow): string {
  return replicas.map(({ node }) => node ?? "–").join(" ");
}

function figure(row: RepositoryRow, name: "documents" | "lines"): string {
  return indexOf(row)?.[name].toLocaleString("en") ?? "";
}

function problemOf(row: RepositoryRow): string {
  if (row.state === "resting") return row.reason;
  return indexOf(row)?.problem?.message ?? (row.demanded === true ? "no node has room for it" : "");
}

function Remove({
  row: { name },
  done,
}: {
  readonly row: RepositoryRow;
  readonly done: () => void;
}): JSX.Element {
  const ask = (): void =>
    confirm({
      title: `Remove ${name}?`,
      text: "It can no longer be searched. The repository itself is not touched, and can be added again.",
      action: "Remove",
      danger: true,
      async run() {
        await request("POST", "/v1/code/repositories/remove", { body: { names: [name] } });
        done();
        return `${name} is removed.`;
      },
    });
  return (
    <ActionButton service="code" scope="write" kind="plain" onClick={ask}>
      Remove
    </ActionButton>
  );
}

function AddDialog({
  close,
  added,
}: {
  readonly close: () => void;
  readonly added: () => void;
}): JSX.Element {
  const form = useId();
  const [url, setUrl] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const send = async (): Promise<void> => {
    if (busy || url.trim() === "") return;
    setBusy(true);
    try {
      await request("POST", "/v1/code/repositories", { body: { repositories: [{ url: url.trim() }] } });
      toast("It is added; its index is being built.");
      added();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Add a repository"
      close={close}
      actions={
        <>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" form={form} class="primary" disabled={busy}>
            Add
          </button>
        </>
      }
    >
      <form
        id={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label class="field">
          Address
          <input
            name="url"
            value={url}
            required
            autocomplete="off"
            placeholder="https://host/path, or a folder on the nodes"
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
        {problem && <ProblemNote problem={problem} />}
      </form>
    </Dialog>
  );
}
