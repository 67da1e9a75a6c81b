/** Lines over time: uPlot with the console's colours, and a legend that says the values under the cursor, or the last ones. Gaps are the caller's affair. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isDark } from "../../ui/theme.ts";

interface Line {
  readonly label: string;
  /** A colour of tokens.css: `--held`. */
  readonly colour: string;
  readonly dashed?: boolean;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly label: string;
  /** Seconds since 1970, in order. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** Steps of ten instead of equal ones. */
  readonly logarithmic?: boolean;
}

const HEIGHT_PX = 180;
const AXIS_PX = 56;
const TIME_PX = 26;

export function Chart(props: ChartProps): JSX.Element {
  const { label, times, lines } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const dark = isDark();
  const data = [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
  const names = lines.map((line) => line.label).join();
  const [at, setAt] = useState<number>();
  useLayoutEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const made = new uPlot(optionsOf(props, current, setAt), data, current);
    chart.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: current.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(current);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = undefined;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- data comes by itself below; colours change with the theme.
  }, [names, dark]);
  useEffect(() => chart.current?.setData(data), [times, lines]);
  return (
    <>
      <figcaption class="chart-head">
        <b class="grow">{label}</b>
        <span class="muted number">{at === undefined ? "" : clock(times[at] ?? 0)}</span>
        <span class="chart-keys">
          {lines.map((line) => (
            <Key
              key={line.label}
              line={line}
              value={line.values[at ?? line.values.length - 1]}
              format={props.format}
            />
          ))}
        </span>
      </figcaption>
      <div ref={place} class="chart" role="img" aria-label={label} />
    </>
  );
}

function Key({
  line: { label, colour, dashed },
  value,
  format,
}: {
  readonly line: Line;
  readonly value: number | null | undefined;
  readonly format: (value: number) => string;
}): JSX.Element {
  return (
    <span class="chart-key">
      <i class={dashed === true ? "dashed" : ""} style={{ borderColor: `var(${colour})` }} />
      <span class="muted">{label}</span>
      <span class="number">{value === null || value === undefined ? "–" : format(value)}</span>
    </span>
  );
}

function optionsOf(
  { lines, format, logarithmic = false }: ChartProps,
  place: HTMLElement,
  point: (index: number | undefined) => void,
): uPlot.Options {
  const colour = (name: string): string => {
    // Read from an element, because variables hold light-dark(…) and not a colour.
    place.style.color = `var(${name})`;
    const found = getComputedStyle(place).color;
    place.style.color = "";
    return found;
  };
  const grid = { stroke: colour("--line"), width: 1 };
  // Of logarithmic steps only the tens, or there would be more lines than picture.
  const filter = (_: uPlot, splits: number[]): (number | null)[] =>
    splits.map((at) => (!logarithmic || Number.isInteger(Math.log10(at)) ? at : null));
  const axis = {
    stroke: colour("--muted"),
    grid,
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return {
    width: Math.max(100, place.clientWidth),
    height: HEIGHT_PX,
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    hooks: { setCursor: [({ cursor: { idx } }) => point(idx ?? undefined)] },
    scales: {
      x: { time: true },
      y: logarithmic
        ? { distr: 3, range: (_, from, to) => [Math.max(0.5, from), Math.max(10, to)] }
        : { range: (_, __, to) => [0, Math.max(1, to * 1.1)] },
    },
    axes: [
      { ...axis, size: TIME_PX, space: 70, values: (_, splits) => splits.map((at) => clock(at)) },
      {
        ...axis,
        grid: { ...grid, filter },
        filter,
        size: AXIS_PX,
        values: (_, splits) => splits.map((at) => (at === null ? "" : format(at))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label: name, colour: which, dashed }) => ({
        label: name,
        stroke: colour(which),
        width: 1.75,
        points: { show: false },
        spanGaps: false,
        ...(dashed === true ? { dash: [4, 4] } : {}),
      })),
    ],
  };
}

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });

function clock(seconds: number): string {
  return timeOfDay.format(seconds * 1_000);
}
