/** `keelson status`: the fleet at a glance. */
import { Command } from "commander";
import pc from "picocolors";
import type { FleetStatus, ServiceStatus } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { ago } from "../../report/ago.ts";
import { table, type Column } from "../../report/table.ts";

export function statusCommand(): Command {
  const command = withDoor(new Command("status"));
  return command.action(() =>
    throughDoor(command, async ({ admin, print }) => {
      const status = await admin.status();
      print.show(status, () => statusText(status));
    }),
  );
}

const COLUMNS: readonly Column<ServiceStatus>[] = [
  { title: "SERVICE", text: ({ service }) => service, flexible: true },
  { title: "PLACEMENT", text: ({ placement }) => placement },
  { title: "VIEW", text: ({ view }) => String(view), right: true },
  { title: "NODES", text: ({ members }) => String(members), right: true },
  {
    title: "SHARDS",
    text: ({ shards, replicas }) => `${shards}${replicas > 1 ? `×${replicas}` : ""}`,
    right: true,
  },
  {
    title: "HELD",
    text: ({ held, wanted }) => `${held}/${wanted}`,
    right: true,
    paint: (text, { held, wanted }) => (held >= wanted ? pc.green(text) : pc.red(text)),
  },
  {
    title: "MOVING",
    text: ({ misplaced, contenders }) => String(Math.max(misplaced, contenders)),
    right: true,
    paint: (text) => (text === "0" ? text : pc.yellow(text)),
  },
  {
    title: "TROUBLED",
    text: ({ troubled, quarantined }) =>
      quarantined > 0 ? `${troubled} (${quarantined} quarantined)` : String(troubled),
    right: true,
    paint: (text) => (text === "0" ? text : pc.red(text)),
  },
];

export function statusText(status: FleetStatus): string {
  const { fleet, at, members, era, manager, store, services, drains, pins } = status;
  const head = [
    `fleet ${pc.bold(fleet)}`,
    `${members} ${members === 1 ? "member" : "members"}`,
    manager ? `manager ${manager.node} (${ago(manager.since, at)})` : pc.yellow("no manager"),
    era
      ? era.phase === "open"
        ? `era ${era.era}`
        : pc.yellow(`era ${era.era} is closed`)
      : pc.yellow("no era"),
    store.live
      ? `store revision ${store.revision}`
      : pc.red("the store does not answer: this is what was last known"),
  ].join("   ");
  const lines = [head, ""];
  lines.push(services.length === 0 ? "no service: start a node that offers one" : table(COLUMNS, services));
  if (drains.length > 0 || pins.length > 0) lines.push("");
  for (const { node, by, reason, since, held } of drains)
    lines.push(
      `drained: ${pc.bold(node)}, by ${by} ${ago(since, at)} ago${reason === "" ? "" : ` (${reason})`}; holds ${held}`,
    );
  for (const pin of pins)
    lines.push(
      `${pin.once ? "move" : "pin"}: ${pin.service}/${pin.shard}${pin.replica === undefined ? "" : `/${pin.replica}`} to ${pc.bold(pin.node)}, by ${pin.by} ${ago(pin.since, at)} ago; ${pin.kept ? "there" : pc.yellow("not there")}`,
    );
  return lines.join("\n");
}
