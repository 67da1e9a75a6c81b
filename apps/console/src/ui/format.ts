/** Numbers, sizes and times as people read them. One way for each, everywhere in the console. */

const counts = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const decimals = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function formatCount(value: number): string {
  return counts.format(value);
}

export function formatNumber(value: number): string {
  return decimals.format(value);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? value.toFixed(0) : value.toFixed(1)} ${UNITS[unit]}`;
}

const STEPS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** The largest unit that fits, and the next: `3 h 12 min`. */
export function formatDuration(ms: number): string {
  const at = STEPS.findIndex(([step]) => ms >= step);
  if (at < 0) return ms < 1 ? "0 s" : `${Math.round(ms)} ms`;
  const [step, unit] = STEPS[at]!;
  const whole = Math.floor(ms / step);
  const next = STEPS[at + 1];
  const rest = next ? Math.floor((ms - whole * step) / next[0]) : 0;
  return rest > 0 && whole < 10 && next ? `${whole} ${unit} ${rest} ${next[1]}` : `${whole} ${unit}`;
}

/** How long ago by this machine's clock; clocks that differ a little do not make it negative. */
export function formatAgo(at: number, now = Date.now()): string {
  const ms = Math.max(0, now - at);
  return ms < 1_000 ? "just now" : `${formatDuration(ms)} ago`;
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const dayTime = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});

/** Today, the time; before, the day too. */
export function formatTime(at: number): string {
  const day = new Date(at).toDateString() === new Date().toDateString();
  return (day ? clockTime : dayTime).format(at);
}

export function formatDate(at: number): string {
  return dayTime.format(at);
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** `1 replica`, `2 replicas`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
