/**
 * Rows as text in columns: numbers to the right, words to the left, and no line longer than the terminal, where there is one. What does not fit is cut
 * from the columns that say they may be cut, the widest first.
 */
import pc from "picocolors";

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly right?: boolean;
  /** May be cut when there is no room. */
  readonly flexible?: boolean;
  readonly paint?: (text: string, row: Row) => string;
}

export interface TableOptions {
  /** 0 is no limit. */
  readonly columnsMax?: number;
  readonly bold?: (text: string) => string;
}

const GAP = "  ";
/** A cut column says at least this much. */
const LEAST = 6;

export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: TableOptions = {},
): string {
  const { columnsMax = process.stdout.columns ?? 0, bold = pc.bold } = options;
  const cells = rows.map((row) => columns.map((column) => column.text(row)));
  const widths = columns.map(({ title }, i) =>
    Math.max(title.length, ...cells.map((texts) => width(texts[i] ?? ""))),
  );
  fit(columns, widths, columnsMax);
  const line = (texts: readonly string[], paint: (text: string, i: number) => string): string =>
    texts
      .map((text, i) => {
        const cut = clip(text, widths[i] ?? 0);
        const space = " ".repeat(Math.max(0, (widths[i] ?? 0) - width(cut)));
        const painted = paint(cut, i);
        return columns[i]?.right === true ? space + painted : painted + space;
      })
      .join(GAP)
      .trimEnd();
  const titles = line(
    columns.map(({ title }) => title),
    (text) => bold(text),
  );
  const body = rows.map((row, n) =>
    line(cells[n] ?? [], (text, i) => columns[i]?.paint?.(text, row) ?? text),
  );
  return [titles, ...body].join("\n");
}

/** Takes from the widest column that may be cut, until all fit or none is left to take from. */
function fit(
  columns: readonly Column<never>[] | readonly Column<unknown>[],
  widths: number[],
  most: number,
): void {
  const total = (): number => widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1));
  while (most > 0 && total() > most) {
    let widest = -1;
    for (const [i, column] of columns.entries())
      if (column.flexible === true && widths[i]! > LEAST && (widest < 0 || widths[i]! > widths[widest]!))
        widest = i;
    if (widest < 0) return;
    widths[widest]! -= 1;
  }
}

/** The text, cut to so many characters with an ellipsis. */
export function clip(text: string, most: number): string {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, Math.max(0, most - 1)).join("")}…`;
}

function width(text: string): number {
  return Array.from(text).length;
}
