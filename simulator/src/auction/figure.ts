import { DIALS, type Row } from "./sweep.ts";

/** Draws the report as text and as a figure: one row of small charts per dial, one column per measure. Plain SVG, no library. */

interface Measure {
  readonly title: string;
  readonly of: (row: Row) => number;
  readonly show: (value: number) => string;
}

const MEASURES: readonly Measure[] = [
  { title: "p50 time to ready (s)", of: (row) => row.readyP50Ms / 1_000, show: (v) => v.toFixed(1) },
  { title: "p99 time to ready (s)", of: (row) => row.readyP99Ms / 1_000, show: (v) => v.toFixed(1) },
  { title: "unclaimed repository-s/h", of: (row) => row.unclaimedSeconds, show: (v) => v.toFixed(0) },
  { title: "rebuilt GiB/h", of: (row) => row.rebuiltGib, show: (v) => v.toFixed(1) },
  { title: "mean nodes", of: (row) => row.meanNodes, show: (v) => v.toFixed(1) },
];

export function table(rows: readonly Row[]): string {
  const head = ["dial", "value", ...MEASURES.map(({ title }) => title), "violations"];
  const body = rows.map((row) => [
    row.dial,
    String(row.value),
    ...MEASURES.map(({ of, show }) => show(of(row))),
    String(row.violations),
  ]);
  const widths = head.map((cell, i) => Math.max(cell.length, ...body.map((line) => line[i]!.length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  ");
  return `${[head, ...body].map(line).join("\n")}\n`;
}

const WIDTH = 190;
const HEIGHT = 120;
const LEFT = 110;
const TOP = 40;
const PAD = 26;

export function figure(rows: readonly Row[], title: string): string {
  const width = LEFT + MEASURES.length * WIDTH;
  const height = TOP + DIALS.length * HEIGHT + 10;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="8" y="16" font-size="13" font-weight="bold">${escape(title)}</text>`,
  ];
  MEASURES.forEach(({ title: name }, m) =>
    parts.push(`<text x="${LEFT + m * WIDTH}" y="34">${escape(name)}</text>`),
  );
  DIALS.forEach(({ name, unit }, d) => {
    const mine = rows.filter((row) => row.dial === name);
    const y = TOP + d * HEIGHT;
    parts.push(`<text x="8" y="${y + HEIGHT / 2}" font-weight="bold">${name}</text>`);
    parts.push(`<text x="8" y="${y + HEIGHT / 2 + 14}" fill="#666">${unit}</text>`);
    MEASURES.forEach((measure, m) => parts.push(chart(mine, measure, LEFT + m * WIDTH, y)));
  });
  return `${[...parts, "</svg>"].join("\n")}\n`;
}

/** A line over the dial's values, evenly spaced, from zero up. */
function chart(rows: readonly Row[], { of, show }: Measure, x: number, y: number): string {
  const most = Math.max(1e-9, ...rows.map(of));
  const innerWidth = WIDTH - 2 * PAD;
  const innerHeight = HEIGHT - 2 * PAD;
  const points = rows.map((row, i) => ({
    row,
    x: x + PAD / 2 + (rows.length === 1 ? 0 : (i * innerWidth) / (rows.length - 1)),
    y: y + HEIGHT - PAD - (of(row) / most) * innerHeight,
  }));
  const path = points.map((point) => `${point.x.toFixed(1)},${point.y.toFixed(1)}`).join(" ");
  const base = y + HEIGHT - PAD;
  return [
    `<line x1="${x}" y1="${base}" x2="${x + WIDTH - PAD}" y2="${base}" stroke="#bbb"/>`,
    `<polyline points="${path}" fill="none" stroke="#1a6fb0" stroke-width="1.5"/>`,
    ...points.map(
      (point) =>
        `<circle cx="${point.x.toFixed(1)}" cy="${point.y.toFixed(1)}" r="2.5" fill="#1a6fb0"/><text x="${point.x.toFixed(1)}" y="${(point.y - 5).toFixed(1)}" text-anchor="middle" font-size="9">${show(of(point.row))}</text><text x="${point.x.toFixed(1)}" y="${base + 12}" text-anchor="middle" font-size="9" fill="#666">${point.row.value}</text>`,
    ),
  ].join("\n");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
