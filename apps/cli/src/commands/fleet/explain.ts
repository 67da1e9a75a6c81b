/** `keelson explain <shard>`: who holds it, since when, and why. */
import { Command } from "commander";
import pc from "picocolors";
import { auctionLines } from "@keelson/kernel";
import type { ShardExplanation } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { epochText, parseShardName, segment } from "../../admin/shard-name.ts";
import { ago, dateAndTime, timeOfDay } from "../../report/ago.ts";

export function explainCommand(): Command {
  const command = withDoor(new Command("explain").argument("<shard>", "service/shard, as in counter/7"));
  return command.action((text: string) =>
    throughDoor(command, async ({ admin, print }) => {
      const { service, shard } = parseShardName(text);
      const explanation = await admin.explain(service, shard);
      print.show(explanation, () => explanationText(explanation, Date.now()));
    }),
  );
}

export function explanationText(explanation: ShardExplanation, now: number): string {
  const { service, shard, placement, view, replicas, primary, trouble } = explanation;
  const lines = [`${pc.bold(`${service}/${segment(shard)}`)}, placed by ${placement} in view ${view}`];
  for (const replica of replicas) {
    const { holder, candidates, planReason, contenders, auction, decisions, pin } = replica;
    const name = replicas.length > 1 ? `replica ${replica.replica}: ` : "";
    lines.push("");
    if (holder) {
      const since = `${ago(holder.since, now)} (since ${dateAndTime(holder.since)})`;
      lines.push(
        `  ${name}held by ${pc.green(holder.node)} at ${holder.address} for ${since}`,
        `  epoch     ${epochText(holder.epoch)}`,
        `  why       ${holder.how}${holder.from === undefined ? "" : ` from ${holder.from}`}: ${holder.reason}`,
      );
    } else lines.push(`  ${name}${pc.red("held by nobody")}`);
    const [first, ...rest] = candidates;
    if (first === undefined) lines.push(`  plan      ${planReason}`);
    else {
      lines.push(`  plan      ${first === holder?.node ? first : pc.yellow(first)}: ${planReason}`);
      if (rest.length > 0)
        lines.push(`  then      ${rest.slice(0, 8).join(", ")}${rest.length > 8 ? ", …" : ""}`);
    }
    if (auction) for (const line of auctionLines(auction)) lines.push(`  auction   ${line}`);
    for (const { node, phase, progress } of contenders)
      lines.push(
        `  next      ${pc.yellow(node)} is ${phase === "ready" ? "ready" : `preparing, ${Math.round(progress * 100)} %`}`,
      );
    if (pin)
      lines.push(
        `  ${pin.once ? "move" : "pin"}       to ${pin.node}, by ${pin.by}${pin.reason === "" ? "" : `: ${pin.reason}`}${pin.kept ? "" : pc.yellow(" (not there)")}`,
      );
    for (const { at, node, kind, reason } of decisions)
      lines.push(pc.dim(`  ${timeOfDay(at)}  ${node} ${kind}: ${reason}`));
  }
  if (primary)
    lines.push(
      "",
      `  primary   replica ${primary.replica} on ${primary.node}, write epoch ${epochText(primary.epoch)}`,
    );
  if (trouble)
    lines.push(
      "",
      pc.red(`  ${trouble.quarantined ? "quarantined" : "trouble"}: ${trouble.text}`),
      ...(trouble.quarantined ? [`  mend that, then: keelson retry ${service}/${segment(shard)}`] : []),
    );
  return lines.join("\n");
}
