/** A page of a service that nobody has drawn: what its declared routes answer, as tables where they are lists of things, as text where not. */
import type { JSX } from "preact";
import { request } from "../api/request.ts";
import type { DeclaredPage } from "../api/session.ts";
import { Page } from "../ui/page.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { useAnswer } from "../ui/use-answer.ts";

type Thing = Readonly<Record<string, unknown>>;
const columnsMax = 8;
const textCharsMax = 200_000;

export function PlainPage({
  service,
  page,
}: {
  readonly service: string;
  readonly page: DeclaredPage;
}): JSX.Element {
  const askable = page.reads.filter(({ path }) => !path.includes("{"));
  return (
    <Page title={page.title} about={page.about}>
      {askable.map(({ name, path }) => (
        <Read key={`${service} ${name}`} name={name} path={path} />
      ))}
      {askable.length === 0 && <p class="muted">What this page shows needs to be asked for by name.</p>}
    </Page>
  );
}

function Read({ name, path }: { readonly name: string; readonly path: string }): JSX.Element {
  const { value, problem, loading, again } = useAnswer(path, (signal) => request("GET", path, { signal }));
  return (
    <section class="stack">
      <div class="row">
        <h2 class="grow">{name}</h2>
        <button type="button" onClick={again} disabled={loading}>
          Look again
        </button>
      </div>
      {problem && <ProblemNote problem={problem} />}
      {value !== undefined && <Value name={name} value={value} />}
    </section>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }): JSX.Element {
  const things = thingsIn(value);
  if (!things) return <pre class="card">{JSON.stringify(value, null, 2)?.slice(0, textCharsMax)}</pre>;
  const names = [...new Set(things.slice(0, 100).flatMap((thing) => Object.keys(thing)))].slice(
    0,
    columnsMax,
  );
  const columns: Column<readonly [number, Thing]>[] = names.map((id) => ({
    id,
    title: id,
    number: typeof things[0]?.[id] === "number",
    cell: ([, thing]) => text(thing[id]),
  }));
  return <Table label={name} columns={columns} rows={[...things.entries()]} keyOf={([index]) => index} />;
}

/** The list of things that an answer is or has as one of its fields. */
function thingsIn(value: unknown): readonly Thing[] | undefined {
  const lists = Array.isArray(value)
    ? [value as unknown[]]
    : Object.values(value ?? {}).filter(Array.isArray);
  return lists.find(
    (list) => list.length > 0 && list.every((one) => typeof one === "object" && one !== null),
  ) as readonly Thing[] | undefined;
}

function text(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
