/** `keelson audit`: who asked a gateway for what, from where, and what became of it. Only the gateway that is asked knows: each has its own log. */
import type { AuditEntry } from "@keelson/gateway";
import { Command } from "commander";
import { doorOf, withGateway, type DoorOptions } from "../../admin/door.ts";
import { UsageError } from "../../failure.ts";
import { dateAndTime } from "../../report/ago.ts";
import { Printer } from "../../report/printer.ts";
import { table } from "../../report/table.ts";

interface AuditOptions extends DoorOptions {
  readonly limit: string;
  readonly who?: string;
  readonly action?: string;
  readonly failed?: boolean;
  readonly before?: string;
}

export function auditCommand(): Command {
  const command = withGateway(
    new Command("audit")
      .option("--limit <number>", "how many, newest first, at most 1000", "50")
      .option("--who <name>", "only of this token, by its name or id")
      .option("--action <name>", "only this action, e.g. fleet.drain")
      .option("--failed", "only what was refused or failed")
      .option("--before <number>", "only older ones than this"),
  );
  return command.action(async (options: AuditOptions) => {
    const { limit, who, action, failed, before } = options;
    for (const [flag, text] of Object.entries({ limit, before }))
      if (text !== undefined && !/^[1-9]\d{0,14}$/.test(text))
        throw new UsageError(`--${flag} must be a whole number from 1 up, not "${text}"`);
    const query = new URLSearchParams({ limit });
    if (who !== undefined) query.set("who", who);
    if (action !== undefined) query.set("action", action);
    if (failed === true) query.set("failed", "true");
    if (before !== undefined) query.set("before", before);
    const found = (await doorOf(options).ask("GET", `/v1/fleet/audit?${query.toString()}`)) as {
      entries: AuditEntry[];
    };
    new Printer(options.json === true).show(found, () => textOf(found.entries));
  });
}

function textOf(entries: readonly AuditEntry[]): string {
  if (entries.length === 0) return "nothing yet";
  return table(
    [
      { title: "NUMBER", text: ({ seq }) => String(seq), right: true },
      { title: "WHEN", text: ({ at }) => dateAndTime(at) },
      { title: "WHO", text: ({ who, tokenId }) => (tokenId === undefined ? who : `${who} (${tokenId})`) },
      { title: "FROM", text: ({ from }) => from },
      { title: "ACTION", text: ({ action, about }) => [action, ...Object.values(about ?? {})].join(" ") },
      {
        title: "OUTCOME",
        text: ({ outcome, code }) => (code === undefined ? outcome : `${outcome}: ${code}`),
      },
      { title: "CHANGE", text: ({ change }) => (change ? changeText(change) : ""), flexible: true },
    ],
    entries,
  );
}

function changeText({ before, after }: NonNullable<AuditEntry["change"]>): string {
  return `${JSON.stringify(before)} → ${JSON.stringify(after)}`;
}
