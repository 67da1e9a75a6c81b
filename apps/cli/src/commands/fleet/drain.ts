/** `keelson drain <node>` and `keelson undrain <node>`: a node gives away what it holds, and takes its share again. */
import { Command } from "commander";
import type { FleetAdmin } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { parseDurationMs } from "../../config/duration.ts";
import { RunError, UsageError } from "../../failure.ts";
import type { Printer } from "../../report/printer.ts";

const LOOK_MS = 300;

interface DrainOptions {
  readonly reason?: string;
  readonly wait: boolean;
  readonly timeout: string;
}

export function drainCommand(): Command {
  const command = withDoor(
    new Command("drain")
      .argument("<node>", "its id")
      .option("--reason <text>", "why, for others to read")
      .option("--no-wait", "do not wait")
      .option("--timeout <time>", "how long to wait", "10m"),
  );
  return command.action((node: string, options: DrainOptions) =>
    throughDoor(command, async ({ admin, print, wisher }) => {
      const timeoutMs = parseDurationMs(options.timeout);
      if (timeoutMs === undefined)
        throw new UsageError(
          `--timeout must be a length of time with its unit: 30s, 10m, not "${options.timeout}"`,
        );
      const before = await heldBy(admin, node);
      const { done, already } = await admin.drain(node, wisher(options.reason));
      if (options.wait) await emptied(admin, node, before ?? 0, timeoutMs, print);
      const held = options.wait ? 0 : ((await heldBy(admin, node)) ?? 0);
      print.show({ node, held, already }, () =>
        options.wait
          ? `${node} is drained: it holds nothing.\nStop it, or let it take its share again: keelson undrain ${node}`
          : done,
      );
    }),
  );
}

export function undrainCommand(): Command {
  const command = withDoor(new Command("undrain").argument("<node>", "its id"));
  return command.action((node: string) =>
    throughDoor(command, async ({ admin, print }) => {
      const done = await admin.undrain(node);
      print.show(done, () => done.done);
    }),
  );
}

async function emptied(
  admin: FleetAdmin,
  node: string,
  before: number,
  timeoutMs: number,
  print: Printer,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const held = (await heldBy(admin, node)) ?? 0;
    if (held === 0) return;
    if (performance.now() > deadline)
      throw new RunError(
        `${node} still holds ${held} after the time to wait: it goes on draining; keelson shards --node ${node} shows what is left`,
      );
    print.progress(
      `draining ${node}: ${before - held} of ${before} shards moved`,
      (before - held) / Math.max(1, before),
    );
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Undefined when there is no such node. */
async function heldBy(admin: FleetAdmin, node: string): Promise<number | undefined> {
  return (await admin.nodes()).find((each) => each.node === node)?.held;
}
