import type { BenchResult } from "./bench.ts";

/** The figures as lines for people: one row per figure, ours first and then a column per peer. */
export function table({ figures, peers }: BenchResult): string {
  const names = Object.keys(peers);
  const keys = [...new Set([figures, ...Object.values(peers)].flatMap((each) => Object.keys(each)))];
  const rows = [
    ["", "keelson", ...names],
    ...keys.map((key) => [key, format(figures[key]), ...names.map((name) => format(peers[name]?.[key]))]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0, column))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Words to the left, numbers to the right. */
function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** Four digits that count are more than a busy machine can keep. */
function format(figure: number | undefined): string {
  if (figure === undefined) return "-";
  if (Math.abs(figure) >= 1_000) return Math.round(figure).toLocaleString("en-US");
  return Number.isInteger(figure) ? String(figure) : figure.toPrecision(3);
}
