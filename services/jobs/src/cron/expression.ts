/**
 * A cron expression: five fields (minute, hour, day of month, month, day of week), or six with seconds first. Fields take `*`, numbers, names, ranges, steps and
 * lists; `@hourly` and its like are short forms. As in cron, a day matches when either of two restricted day fields does. Parsing only; when it runs is next-run.ts.
 */

export interface CronExpression {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  /** 1 to 12. */
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Both day fields are restricted: one of them is enough. */
  readonly anyDay: boolean;
  /** The hour field begins with `*`: it means a pace, not times of the day. */
  readonly everyHour: boolean;
}

export type ParsedCron = { readonly cron: CronExpression } | { readonly problem: string };

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly Field[] = [
  { name: "second", min: 0, max: 59 },
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTHS },
  // Sunday is 0 or 7.
  { name: "day of week", min: 0, max: 7, names: WEEKDAYS },
];

const SHORT_FORMS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const TEXT_LENGTH_MAX = 256;

export function parseCron(text: string): ParsedCron {
  if (text.length > TEXT_LENGTH_MAX)
    return { problem: `a cron expression has at most ${TEXT_LENGTH_MAX} characters` };
  const trimmed = text.trim().toLowerCase();
  const words = (SHORT_FORMS[trimmed] ?? trimmed).split(/\s+/);
  if (words.length !== 5 && words.length !== 6)
    return { problem: `"${text}" is no cron expression: write five fields, or six with seconds first` };
  const all = words.length === 5 ? ["0", ...words] : words;
  const sets: Set<number>[] = [];
  for (const [index, word] of all.entries()) {
    const set = parseField(word, FIELDS[index]!);
    if (typeof set === "string") return { problem: `"${text}" is no cron expression: ${set}` };
    sets.push(set);
  }
  const [seconds, minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  if (weekdays.delete(7)) weekdays.add(0);
  const cron: CronExpression = {
    seconds: ordered(seconds),
    minutes: ordered(minutes),
    hours: ordered(hours),
    days,
    months,
    weekdays,
    anyDay: !all[3]!.startsWith("*") && !all[5]!.startsWith("*"),
    everyHour: all[2]!.startsWith("*"),
  };
  if (!comesEver(cron)) return { problem: `"${text}" never comes: no such month has such a day` };
  return { cron };
}

/** Whether a date of this proleptic calendar matches. */
export function dateMatches(cron: CronExpression, month: number, day: number, weekday: number): boolean {
  if (!cron.months.has(month)) return false;
  const [byDay, byWeekday] = [cron.days.has(day), cron.weekdays.has(weekday)];
  return cron.anyDay ? byDay || byWeekday : byDay && byWeekday;
}

/** What parsed, or what is wrong with it. */
function parseField(word: string, field: Field): Set<number> | string {
  const found = new Set<number>();
  for (const part of word.split(",")) {
    const match = /^(\*|[a-z0-9]+(?:-[a-z0-9]+)?)(?:\/(\d+))?$/.exec(part);
    if (match === null) return `"${part}" is no ${field.name}`;
    const step = match[2] === undefined ? 1 : Number(match[2]);
    if (step < 1) return `the step of "${part}" must be at least 1`;
    const range = parseRange(match[1]!, match[2] !== undefined, field);
    if (typeof range === "string") return range;
    for (let value = range[0]; value <= range[1]; value += step) found.add(value);
  }
  return found;
}

function parseRange(text: string, hasStep: boolean, field: Field): readonly [number, number] | string {
  // 7 is Sunday only when it is written.
  if (text === "*") return [field.min, field.names === WEEKDAYS ? 6 : field.max];
  const [from, to] = text.split("-").map((word) => parseNumber(word, field));
  if (from === undefined || (to === undefined && text.includes("-")))
    return `"${text}" is no ${field.name}: it is ${field.min} to ${field.max}`;
  const end = to ?? (hasStep ? field.max : from);
  if (end < from) return `the range "${text}" runs backwards`;
  return [from, end];
}

function parseNumber(word: string, { min, max, names }: Field): number | undefined {
  const named = names?.indexOf(word) ?? -1;
  if (named >= 0) return named + (names === MONTHS ? 1 : 0);
  const value = /^\d{1,2}$/.test(word) ? Number(word) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function comesEver(cron: CronExpression): boolean {
  if (cron.anyDay) return true;
  const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return [...cron.months].some((month) => [...cron.days].some((day) => day <= longest[month - 1]!));
}

function ordered(set: ReadonlySet<number>): number[] {
  return [...set].sort((a, b) => a - b);
}
