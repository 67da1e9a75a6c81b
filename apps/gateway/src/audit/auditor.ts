/** Turns requests into entries of the audit log: which of them are actions, who asked, from where, and what of the question may be written down. */
import type { IncomingMessage } from "node:http";
import { redact, type Api, type Principal } from "@keelson/runtime";
import type { Params } from "../http/path-table.ts";
import type { Problem } from "../problem.ts";
import type { AuditEntry, AuditRecord } from "./audit-entry.ts";
import type { AuditLog } from "./audit-log.ts";

export interface Action {
  readonly service: string;
  readonly name: string;
}

export interface Asker {
  readonly principal: Principal | undefined;
  readonly from: string;
  readonly forwarded?: string | undefined;
  /** The id in a token that was not taken. */
  readonly claimed?: string | undefined;
}

const ASKED_CHARS_MAX = 1_000;
const PARAM_CHARS_MAX = 200;
const CHANGE_CHARS_MAX = 4_000;

export class Auditor {
  readonly log: AuditLog;

  constructor(log: AuditLog) {
    this.log = log;
  }

  done(
    asker: Asker,
    action: Action,
    asked: { readonly params?: Params | undefined; readonly input?: unknown },
    change: AuditEntry["change"],
  ): Promise<void> {
    return this.log.append({
      ...whoOf(asker),
      action: `${action.service}.${action.name}`,
      ...aboutOf(asked.params),
      ...askedOf(asked.input),
      ...(change ? { change: safeChange(change) } : {}),
      outcome: "done",
      status: 200,
    });
  }

  failed(asker: Asker, action: Action, params: Params | undefined, problem: Problem): Promise<void> {
    return this.log.append({
      ...whoOf(asker),
      action: `${action.service}.${action.name}`,
      // Of somebody who is not known, only that they came: what they send is nothing to keep.
      ...(asker.principal ? aboutOf(params) : {}),
      outcome: problem.status < 500 ? "refused" : "failed",
      status: problem.status,
      code: problem.code,
    });
  }
}

/** What writes and is for operators: whatever needs the scope admin, and what stands behind a button of the console. */
export function isAction(api: Api, name: string): boolean {
  const route = api.http?.[name];
  if (route?.mode !== "write") return false;
  return (
    route.scope === "admin" ||
    (api.console ?? []).some(({ actions = [] }) => actions.some((action) => action.route === name))
  );
}

/** Who asks over HTTP. */
export function askerOf({ socket, headers }: IncomingMessage, principal: Principal | undefined): Asker {
  const forwarded = headers["x-forwarded-for"];
  const claimed = /\bkeelson_([0-9a-f]{16})_/.exec(headers.authorization?.slice(0, 256) ?? "")?.[1];
  return {
    principal,
    from: socket.remoteAddress ?? "unknown",
    ...(typeof forwarded === "string" ? { forwarded } : {}),
    ...(claimed === undefined ? {} : { claimed }),
  };
}

function whoOf({ principal, from, forwarded, claimed }: Asker): Pick<AuditRecord, "who" | "from"> {
  const tokenId = principal?.tokenId ?? claimed;
  return {
    who: principal?.name ?? "nobody",
    ...(tokenId === undefined ? {} : { tokenId }),
    from,
    ...(forwarded === undefined ? {} : { forwarded: redact(forwarded.slice(0, PARAM_CHARS_MAX)) }),
  };
}

function aboutOf(params: Params | undefined): Pick<AuditRecord, "about"> {
  const entries = Object.entries(params ?? {});
  if (entries.length === 0) return {};
  return {
    about: Object.fromEntries(
      entries.map(([name, value]) => [name, redact(value.slice(0, PARAM_CHARS_MAX))]),
    ),
  };
}

function askedOf(input: unknown): Pick<AuditRecord, "asked"> {
  if (input === undefined) return {};
  const text = JSON.stringify(input) ?? "";
  return text === "{}" || text === "" ? {} : { asked: redact(text).slice(0, ASKED_CHARS_MAX) };
}

function safeChange(change: NonNullable<AuditEntry["change"]>): NonNullable<AuditEntry["change"]> {
  const text = redact(JSON.stringify(change));
  if (text.length > CHANGE_CHARS_MAX) return { before: "too long to be kept", after: "too long to be kept" };
  try {
    return JSON.parse(text) as NonNullable<AuditEntry["change"]>;
  } catch {
    // What was hidden was more than the inside of a string. The action is done: that it was done must be written down all the same.
    return { before: "not kept: it has secrets", after: "not kept: it has secrets" };
  }
}
