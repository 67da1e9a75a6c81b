/** `keelson shards`: replicas one by one. */
import { Command, Option } from "commander";
import pc from "picocolors";
import type { FleetAdmin, ReplicaState, ReplicaStatus, ShardFilter } from "@keelson/runtime";
import { epochText, segment } from "../../admin/shard-name.ts";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { ago } from "../../report/ago.ts";
import { table, type Column } from "../../report/table.ts";
import { UsageError } from "../../failure.ts";

const PAGE = 1_000;
const STATES: readonly ReplicaState[] = ["held", "moving", "unheld", "quarantined"];

interface ShardOptions {
  readonly node?: string;
  readonly state?: ReplicaState;
  readonly limit: string;
}

export function shardsCommand(): Command {
  const command = withDoor(
    new Command("shards")
      .argument("[service]", "only this service's")
      .option("--node <node>", "only what this node holds or shall hold")
      .addOption(new Option("--state <state>", "only those in this state").choices(STATES))
      .option("--limit <number>", "at most so many", "200"),
  );
  return command.action((service: string | undefined, options: ShardOptions) =>
    throughDoor(command, async ({ admin, print }) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1 || limit > 1_000_000)
        throw new UsageError(`--limit must be a whole number from 1 to 1000000, not "${options.limit}"`);
      const { node, state } = options;
      const { replicas, more } = await gather(admin, { service, node, state }, limit);
      print.show(replicas, () => {
        if (replicas.length === 0) return "no shards";
        const rows = table(columns(Date.now()), replicas);
        return more ? `${rows}\n… and more: --limit, --node and --state choose` : rows;
      });
    }),
  );
}

async function gather(
  admin: FleetAdmin,
  filter: ShardFilter,
  limit: number,
): Promise<{ replicas: ReplicaStatus[]; more: boolean }> {
  const replicas: ReplicaStatus[] = [];
  let after: string | undefined;
  do {
    const page = await admin.shards({ ...filter, after, limit: Math.min(PAGE, limit - replicas.length) });
    replicas.push(...page.replicas);
    after = page.next;
  } while (after !== undefined && replicas.length < limit);
  return { replicas, more: after !== undefined };
}

const TONES: Readonly<Record<ReplicaState, (text: string) => string>> = {
  held: pc.green,
  moving: pc.yellow,
  unheld: pc.red,
  quarantined: pc.red,
};

function columns(now: number): readonly Column<ReplicaStatus>[] {
  return [
    {
      title: "SHARD",
      text: ({ service, shard, replica }) => `${service}/${segment(shard)}/${replica}`,
      flexible: true,
    },
    { title: "STATE", text: ({ state }) => state, paint: (text, { state }) => TONES[state](text) },
    { title: "NODE", text: ({ node }) => node ?? "-", flexible: true },
    { title: "SINCE", text: ({ since }) => (since === undefined ? "-" : ago(since, now)), right: true },
    { title: "EPOCH", text: ({ epoch }) => (epoch ? epochText(epoch) : "-") },
    {
      title: "NEXT",
      text: ({ node, target, contenders }) =>
        contenders.map((each) => `${each.node} (${each.phase})`).join(", ") ||
        (target === undefined || target === node ? "" : target),
      flexible: true,
    },
  ];
}
