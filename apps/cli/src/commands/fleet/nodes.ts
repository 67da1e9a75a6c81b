/** `keelson nodes`: members, what they hold and how they are. */
import { Command } from "commander";
import pc from "picocolors";
import type { NodeStatus } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { ago, bytes } from "../../report/ago.ts";
import { table, type Column } from "../../report/table.ts";

export function nodesCommand(): Command {
  const command = withDoor(new Command("nodes"));
  return command.action(() =>
    throughDoor(command, async ({ admin, print }) => {
      const nodes = await admin.nodes({ reports: true });
      print.show(nodes, () => (nodes.length === 0 ? "no nodes" : table(nodeColumns(Date.now()), nodes)));
    }),
  );
}

function nodeColumns(now: number): readonly Column<NodeStatus>[] {
  return [
    { title: "NODE", text: ({ node }) => node, paint: (text) => pc.bold(text), flexible: true },
    {
      title: "STATE",
      text: stateOf,
      paint: (text) => (text.startsWith("up") ? pc.green(text) : pc.yellow(text)),
    },
    { title: "HELD", text: ({ held }) => String(held), right: true },
    { title: "ADDRESS", text: ({ address }) => address, flexible: true },
    { title: "ZONE", text: ({ zone }) => zone || "-", flexible: true },
    { title: "VERSION", text: ({ version }) => version || "-" },
    { title: "UP", text: ({ startedAt }) => (startedAt === 0 ? "-" : ago(startedAt, now)), right: true },
    {
      title: "MEMORY",
      text: ({ report }) => (typeof report === "object" ? bytes(report.rssBytes) : "-"),
      right: true,
    },
  ];
}

/** In one word or two: what an operator must know before anything else. */
export function stateOf({ member, drained, held, manager, report }: NodeStatus): string {
  if (!member) return "leaving or lost";
  if (typeof report === "string") return "silent";
  if (drained) return held > 0 ? "draining" : "drained";
  return manager ? "up, manager" : "up";
}
