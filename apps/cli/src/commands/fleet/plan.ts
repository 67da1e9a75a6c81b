/** `keelson plan --dry-run`: what would move, now or if nodes left or joined. It changes nothing, with or without the flag, which is there to be sure. */
import { Command } from "commander";
import pc from "picocolors";
import type { ServiceForecast } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { table } from "../../report/table.ts";

const SHOWN_MAX = 20;

interface PlanOptions {
  readonly without?: string;
  readonly join?: string;
  readonly all?: boolean;
}

export function planCommand(): Command {
  const command = withDoor(
    new Command("plan")
      .argument("[service]", "only this service's")
      .option("--dry-run", "say so, for those who want to be sure: nothing is ever changed")
      .option("--without <nodes>", "as if these had left; several with commas")
      .option("--join <nodes>", "as if these had joined; several with commas")
      .option("--all", "list every move"),
  );
  return command.action((service: string | undefined, options: PlanOptions) =>
    throughDoor(command, async ({ admin, print }) => {
      const forecasts = await admin.forecast({
        service,
        without: list(options.without),
        joining: list(options.join),
      });
      print.show(forecasts, () =>
        forecasts.length === 0
          ? "no services"
          : forecasts
              .map((each) => forecastText(each, options.all === true ? Infinity : SHOWN_MAX))
              .join("\n\n"),
      );
    }),
  );
}

function list(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

export function forecastText(forecast: ServiceForecast, shownMax: number): string {
  const { service, placement, view, replicas, moves, movesTotal, nodes, note } = forecast;
  const share = ((100 * movesTotal) / Math.max(1, replicas)).toFixed(1);
  const lines = [
    `${pc.bold(service)}, ${placement}, view ${view}: ${movesTotal === 0 ? "nothing moves" : `${movesTotal} of ${replicas} replicas move (${share} %)`}`,
  ];
  if (note !== undefined) lines.push(pc.dim(`  ${note}`));
  if (nodes.length > 0)
    lines.push(
      table(
        [
          { title: "  NODE", text: ({ node }) => `  ${node}` },
          { title: "NOW", text: ({ before }) => String(before), right: true },
          { title: "THEN", text: ({ after }) => String(after), right: true },
          {
            title: "",
            text: ({ before, after }) =>
              after === before ? "" : `${after > before ? "+" : ""}${after - before}`,
            right: true,
            paint: (text) => (text.startsWith("+") ? pc.green(text) : pc.yellow(text)),
          },
        ],
        nodes,
      ),
    );
  const shown = moves.slice(0, shownMax);
  if (shown.length > 0)
    lines.push(
      table(
        [
          { title: "  SHARD", text: ({ replica }) => `  ${replica}`, flexible: true },
          { title: "FROM", text: ({ from }) => from ?? "nobody" },
          { title: "TO", text: ({ to }) => to ?? "nobody" },
          { title: "WHY", text: ({ reason }) => reason, flexible: true },
        ],
        shown,
      ),
    );
  if (movesTotal > shown.length)
    lines.push(
      `  … and ${movesTotal - shown.length} more${shownMax === Infinity ? "" : ": --all lists them"}`,
    );
  return lines.join("\n");
}
