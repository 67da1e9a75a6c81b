/** `keelson top`: nodes and services, drawn again every second. Without a terminal, or with `--once`, two looks a second apart and one table. */
import { Command } from "commander";
import pc from "picocolors";
import type { FleetAdmin, FleetStatus, NodeReport, NodeStatus } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { Screen } from "../../demo/screen.ts";
import { bytes } from "../../report/ago.ts";
import { table, type Column } from "../../report/table.ts";
import { exitCodeOf, stopSignal } from "../../stop-signal.ts";
import { stateOf } from "./nodes.ts";
import { statusText } from "./status.ts";

const EVERY_MS = 1_000;

export function topCommand(): Command {
  const command = withDoor(new Command("top").option("--once", "look for one second, print, and end"));
  return command.action(({ once }: { once?: boolean }) =>
    throughDoor(command, async ({ admin, print }) => {
      const live = process.stdout.isTTY && process.env["TERM"] !== "dumb" && once !== true && !print.json;
      if (live) {
        await watch(admin);
        return;
      }
      const before = await look(admin);
      await sleep(EVERY_MS);
      const now = await look(admin);
      const rates = ratesOf(before.nodes, now.nodes);
      print.show({ status: now.status, nodes: rates }, () => topText(now.status, rates, 0));
    }),
  );
}

interface Look {
  readonly status: FleetStatus;
  readonly nodes: readonly NodeStatus[];
}

export interface NodeRates {
  readonly node: string;
  readonly state: string;
  readonly held: number;
  readonly contending: number;
  readonly perSecond: number | undefined;
  readonly refusedPerSecond: number | undefined;
  readonly inflight: number | undefined;
  /** Of one core; nodes of one process share theirs. */
  readonly cpu: number | undefined;
  readonly rssBytes: number | undefined;
}

async function look(admin: FleetAdmin): Promise<Look> {
  const [status, nodes] = await Promise.all([admin.status(), admin.nodes({ reports: true })]);
  return { status, nodes };
}

/** What happened between two looks, per second of each node's own clock. */
export function ratesOf(before: readonly NodeStatus[], now: readonly NodeStatus[]): NodeRates[] {
  const earlier = new Map(before.map((status) => [status.node, reportOf(status)]));
  return now.map((status) => {
    const report = reportOf(status);
    const last = earlier.get(status.node);
    const seconds = report && last ? (report.uptimeMs - last.uptimeMs) / 1_000 : 0;
    const per = (pick: (report: NodeReport) => number): number | undefined =>
      report && last && seconds > 0 ? Math.max(0, (pick(report) - pick(last)) / seconds) : undefined;
    return {
      node: status.node,
      state: stateOf(status),
      held: status.held,
      contending: status.contending,
      perSecond: per(({ requests }) => requests),
      refusedPerSecond: per(({ refused }) => refused),
      inflight: report?.inflight,
      cpu: per(({ cpuMs }) => cpuMs / 1_000),
      rssBytes: report?.rssBytes,
    };
  });
}

function reportOf({ report }: NodeStatus): NodeReport | undefined {
  return typeof report === "object" ? report : undefined;
}

const COLUMNS: readonly Column<NodeRates>[] = [
  { title: "NODE", text: ({ node }) => node, paint: (text) => pc.bold(text), flexible: true },
  {
    title: "STATE",
    text: ({ state }) => state,
    paint: (text) => (text.startsWith("up") ? pc.green(text) : pc.yellow(text)),
  },
  { title: "HELD", text: ({ held }) => String(held), right: true },
  { title: "GETTING", text: ({ contending }) => String(contending), right: true },
  { title: "REQ/S", text: ({ perSecond }) => rate(perSecond), right: true },
  {
    title: "REFUSED/S",
    text: ({ refusedPerSecond }) => rate(refusedPerSecond),
    right: true,
    paint: (text) => (text === "0" || text === "-" ? text : pc.yellow(text)),
  },
  { title: "OPEN", text: ({ inflight }) => (inflight === undefined ? "-" : String(inflight)), right: true },
  { title: "CPU", text: ({ cpu }) => (cpu === undefined ? "-" : `${Math.round(cpu * 100)} %`), right: true },
  { title: "MEMORY", text: ({ rssBytes }) => (rssBytes === undefined ? "-" : bytes(rssBytes)), right: true },
];

export function topText(status: FleetStatus, rates: readonly NodeRates[], columnsMax: number): string {
  return `${statusText(status)}\n\n${rates.length === 0 ? "no nodes" : table(COLUMNS, rates, { columnsMax })}`;
}

async function watch(admin: FleetAdmin): Promise<void> {
  let lines: string[] = ["looking…"];
  const screen = new Screen(process.stdout, () => screen.show(lines));
  const stop = stopSignal().then((signal) => {
    process.exitCode = exitCodeOf(signal);
    return true;
  });
  let before: Look | undefined;
  try {
    for (;;) {
      // A gateway that goes away for a moment is no reason to end: what was last known stays, with a word about it.
      const now = await look(admin).catch((error: unknown) => error as Error);
      if (now instanceof Error) lines = [...lines.slice(0, screen.rows - 2), "", pc.red(now.message)];
      else {
        const rates = ratesOf(before?.nodes ?? [], now.nodes);
        lines = topText(now.status, rates, screen.columns).split("\n");
        before = now;
      }
      screen.show(lines);
      if (await Promise.race([stop, sleep(EVERY_MS).then(() => false)])) return;
    }
  } finally {
    screen.close();
  }
}

function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return "-";
  return perSecond < 10 && perSecond > 0 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
