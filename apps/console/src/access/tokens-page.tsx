/** Tokens: who has one, what it may do, until when; making one, whose text is shown once, and revoking one. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { get, path, request } from "../api/request.ts";
import { session, type Scope } from "../api/session.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { confirm } from "../ui/confirm.tsx";
import { Empty } from "../ui/empty.tsx";
import { formatAgo, formatDate } from "../ui/format.ts";
import { Page } from "../ui/page.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { useAnswer } from "../ui/use-answer.ts";
import { NewTokenForm, type NewToken } from "./new-token-form.tsx";
import { showTokenOnce, TokenOnce } from "./token-once.tsx";

interface Token {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly services?: readonly string[];
  readonly tenants?: readonly string[];
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly expired: boolean;
}

interface Tokens {
  readonly place: "store" | "file";
  readonly tokens: readonly Token[];
}

export default function TokensPage(): JSX.Element {
  const { value, problem, again } = useAnswer("tokens", (signal) =>
    get<Tokens>("/v1/fleet/tokens", undefined, signal),
  );
  return (
    <Page
      title="Tokens"
      about={
        value
          ? `kept in the ${value.place === "store" ? "fleet's store" : "gateway's file"}, never with their texts`
          : " "
      }
      actions={
        <ActionButton
          service="fleet"
          scope="admin"
          kind="primary"
          unavailable={problem ? "There are no tokens to be had here." : undefined}
          onClick={() => create(again)}
        >
          New token…
        </ActionButton>
      }
    >
      {problem && <ProblemNote problem={problem} again={problem.status === 403 ? undefined : again} />}
      {value && (
        <Table
          label="Tokens"
          columns={columnsFor(again)}
          rows={value.tokens}
          keyOf={({ id }) => id}
          rowsMax={22}
          empty={<Empty title="No tokens" />}
        />
      )}
      <TokenOnce />
    </Page>
  );
}

function columnsFor(again: () => void): Column<Token>[] {
  return [
    { id: "name", title: "Name", cell: ({ name }) => name },
    { id: "scope", title: "Scope", width: "5rem", cell: ({ scope }) => scope },
    { id: "limits", title: "Limited to", wide: true, cell: limits },
    { id: "id", title: "Id", wide: true, width: "11rem", cell: ({ id }) => <code>{id}</code> },
    {
      id: "created",
      title: "Made",
      wide: true,
      number: true,
      width: "8rem",
      cell: ({ createdAt }) => <span title={formatDate(createdAt)}>{formatAgo(createdAt)}</span>,
    },
    {
      id: "expires",
      title: "Expires",
      number: true,
      width: "9rem",
      wide: true,
      cell: ({ expiresAt, expired }) =>
        expiresAt === undefined ? "never" : expired ? "expired" : formatDate(expiresAt),
    },
    {
      id: "revoke",
      title: "",
      width: "6rem",
      cell: (token) => (
        <ActionButton service="fleet" scope="admin" kind="plain" onClick={() => revoke(token, again)}>
          Revoke
        </ActionButton>
      ),
    },
  ];
}

function limits({ services, tenants }: Token): string {
  const parts = [
    ...(services ? [`services ${services.join(", ")}`] : []),
    ...(tenants ? [`tenants ${tenants.join(", ")}`] : []),
  ];
  return parts.length === 0 ? "nothing" : parts.join("; ");
}

function create(again: () => void): void {
  const wanted = signal<NewToken>({ name: "", scope: "read" });
  confirm({
    title: "New token",
    text: <NewTokenForm wanted={wanted} services={session.peek()?.services.map(({ name }) => name) ?? []} />,
    action: "Make it",
    run: async () => {
      const { token, created } = await request<{ token: string; created: Token }>(
        "POST",
        "/v1/fleet/tokens",
        {
          body: wanted.value,
        },
      );
      again();
      showTokenOnce({ name: created.name, token });
      return undefined;
    },
  });
}

function revoke({ id, name }: Token, again: () => void): void {
  confirm({
    title: `Revoke the token ${name}?`,
    text: "It stops working at once, at every gateway, and what it has opened is closed. This cannot be taken back.",
    action: "Revoke",
    danger: true,
    run: async () => {
      await request("DELETE", path`/v1/fleet/tokens/${id}`);
      again();
      return `Done: the token ${name} is revoked.`;
    },
  });
}
