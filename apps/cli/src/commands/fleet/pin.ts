/** `keelson pin`, `unpin`, `move` and `retry`: an operator's word about one shard. */
import { Command } from "commander";
import type { ActionDone } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { parseShardName } from "../../admin/shard-name.ts";
import type { Printer } from "../../report/printer.ts";

const SHARD = "service/shard, or service/shard/replica";

interface Reason {
  readonly reason?: string;
}

export function pinCommand(): Command {
  const command = withDoor(
    new Command("pin")
      .argument("<shard>", SHARD)
      .argument("<node>", "the node's id")
      .option("--reason <text>", "why, for others to read"),
  );
  return command.action((text: string, node: string, { reason }: Reason) =>
    throughDoor(command, async ({ admin, print, wisher }) =>
      say(print, await admin.pin({ ...parseShardName(text), node }, wisher(reason))),
    ),
  );
}

export function unpinCommand(): Command {
  const command = withDoor(new Command("unpin").argument("<shard>", SHARD));
  return command.action((text: string) =>
    throughDoor(command, async ({ admin, print }) => say(print, await admin.unpin(parseShardName(text)))),
  );
}

export function moveCommand(): Command {
  const command = withDoor(
    new Command("move")
      .argument("<shard>", SHARD)
      .argument("[node]", "where to; an auctioned shard goes to the highest bid instead")
      .option("--reason <text>", "why, for others to read"),
  );
  return command.action((text: string, node: string | undefined, { reason }: Reason) =>
    throughDoor(command, async ({ admin, print, wisher }) =>
      say(print, await admin.move({ ...parseShardName(text), node }, wisher(reason))),
    ),
  );
}

export function retryCommand(): Command {
  const command = withDoor(new Command("retry").argument("<shard>", "service/shard"));
  return command.action((text: string) =>
    throughDoor(command, async ({ admin, print }) => {
      const { service, shard } = parseShardName(text);
      say(print, await admin.retry(service, shard));
    }),
  );
}

function say(print: Printer, done: ActionDone): void {
  print.show(done, () => done.done);
}
