/**
 * Whether what came over the wire has the shape that the engine relies on: kinds of fields, not their meaning, which the engine checks itself. Written by hand,
 * because every job passes through here; what does not fit is refused with the name of the field.
 */
import type { Command, CommandKind } from "../engine/index.ts";
import { ShardFailure } from "./shard-failure.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isFlag: Check = (value) => typeof value === "boolean";
const isBytes: Check = (value) => value instanceof Uint8Array;
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isTexts: Check = (value) => isObject(value) && Object.values(value).every(isText);

/** All fields that are named have the right kind; fields that are not named do no harm. */
function hasShape(shape: Readonly<Record<string, Check>>): Check {
  const fields = Object.entries(shape);
  return (value) => isObject(value) && fields.every(([name, check]) => check(value[name]));
}

const isOneOf =
  (kinds: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) &&
    typeof value["kind"] === "string" &&
    Object.hasOwn(kinds, value["kind"]) &&
    kinds[value["kind"]]!(value);

const BACKOFF = hasShape({ initialMs: isNumber, maxMs: isNumber, factor: isNumber });
const RATE = { name: isText, uniqueKey: isText, limit: isNumber, durationMs: isNumber, hits: isNumber };
const LIMIT = isOneOf({
  concurrency: hasShape({ key: isText, max: isNumber }),
  floating: hasShape({ key: isText, defaultMax: isNumber, refreshMs: isNumber, metadata: isTexts }),
  rate: hasShape({ ...RATE, algorithm: isNumber, behavior: isNumber, burst: isNumber, backoff: BACKOFF }),
});
const RETRY = hasShape({
  retries: isNumber,
  initialMs: isNumber,
  maxMs: isNumber,
  factor: isNumber,
  jitter: isFlag,
});
const DEDUPE = hasShape({
  key: isText,
  mode: (value) => value === "unique" || value === "debounce" || value === "throttle",
  waitMs: maybe(isNumber),
  maxWaitMs: maybe(isNumber),
  windowMs: maybe(isNumber),
});
const CONTENT = {
  group: isText,
  payload: isBytes,
  priority: maybe(isNumber),
  startAtMs: maybe(isNumber),
  retry: maybe(RETRY),
  limits: maybe(isList(LIMIT)),
  metadata: maybe(isTexts),
  timeoutMs: maybe(isNumber),
  retentionMs: maybe(isNumber),
  after: maybe(isList(isText)),
  onDependencyFailure: maybe((value) => value === "fail" || value === "run"),
  dedupe: maybe(DEDUPE),
} as const;
const JOB = { ...CONTENT, id: isText, tenant: isText };
const NAME = { tenant: isText, id: isText };
const OUTCOME = isOneOf({
  succeeded: hasShape({ result: isBytes }),
  failed: hasShape({ code: isText, data: isBytes }),
  cancelled: isObject,
});
const ATTEMPT = hasShape({ outcome: OUTCOME, startedAtMs: isNumber, finishedAtMs: isNumber });
const REPORT = hasShape({ task: isNumber, worker: maybe(isText), outcome: OUTCOME });
const SCHEDULE = hasShape({
  ...NAME,
  cron: isText,
  timeZone: isText,
  missed: (value) => value === "skip" || value === "once" || value === "all",
  job: hasShape(CONTENT),
});

/** Commands that callers may give. The others are the shard's own. */
const COMMANDS: Partial<Readonly<Record<CommandKind, Readonly<Record<string, Check>>>>> = {
  enqueue: { jobs: isList(hasShape(JOB)) },
  import: { jobs: isList(hasShape({ ...JOB, enqueuedAtMs: isNumber, attempts: isList(ATTEMPT) })) },
  lease: { group: isText, worker: isText, max: isNumber, leaseMs: maybe(isNumber) },
  leaseJob: { ...NAME, worker: isText, leaseMs: maybe(isNumber) },
  report: { reports: isList(REPORT) },
  heartbeat: { worker: isText, tasks: isList(isNumber) },
  giveBack: { worker: isText, tasks: isList(isNumber) },
  reportRefresh: {
    task: isNumber,
    outcome: (value) => hasShape({ max: isNumber })(value) || hasShape({ failed: isText })(value),
  },
  cancel: NAME,
  restart: NAME,
  expedite: NAME,
  delete: NAME,
  setGroup: { group: isText, paused: isFlag },
  setTenant: { tenant: isText, paused: maybe(isFlag), weight: maybe(isNumber) },
  dropLeases: { tenant: isText },
  putSchedule: { schedule: SCHEDULE },
  deleteSchedule: NAME,
};

export function commandOf(body: unknown): Command {
  const kind = isObject(body) ? body["kind"] : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(COMMANDS, kind))
    throw new ShardFailure("INVALID", `there is no command ${JSON.stringify(kind)}`);
  checkShape(body, COMMANDS[kind as CommandKind]!, kind);
  return body as Command;
}

/** The first field of a job that does not have the right kind; undefined when all have. For clients, whose jobs travel together: one that does not fit would take the others along. */
export function oddFieldOf(job: object): string | undefined {
  for (const [name, check] of Object.entries(JOB))
    if (!check((job as Readonly<Record<string, unknown>>)[name])) return name;
  return undefined;
}

/** Throws INVALID, with the field that does not fit. */
function checkShape(body: unknown, shape: Readonly<Record<string, Check>>, what: string): void {
  if (!isObject(body)) throw new ShardFailure("INVALID", `${what} has no body`);
  for (const [name, check] of Object.entries(shape))
    if (!check(body[name]))
      throw new ShardFailure("INVALID", `the field ${name} of ${what} does not have the right kind`);
}

const WORK_OPEN = {
  session: isText,
  worker: isText,
  group: isText,
  credit: isNumber,
  leaseMs: maybe(isNumber),
};
const ACK = { session: isText, worker: isText, reports: isBytes, credit: isNumber };
const isPlaced: Check = (value) => Array.isArray(value) && isNumber(value[0]) && hasShape(JOB)(value[1]);
const ADD = { plain: isBytes, others: maybe(isList(isPlaced)) };
const BEAT = {
  worker: isText,
  tasks: isList(isNumber),
  progress: maybe(isList(hasShape({ ...NAME, group: isText }))),
};
const RESULTS = { jobs: isList(hasShape(NAME)) };
const LIST = {
  tenant: isText,
  status: maybe((value) => STATUSES.has(value)),
  group: maybe(isText),
  metadata: maybe(hasShape({ key: isText, value: isText })),
  limit: isNumber,
  before: maybe(hasShape({ statusAtMs: isNumber, id: isText })),
};
const STATUSES: ReadonlySet<unknown> = new Set(["scheduled", "running", "succeeded", "failed", "cancelled"]);
const RATES = {
  name: isText,
  uniqueKey: isText,
  hits: isNumber,
  limit: isNumber,
  duration: isNumber,
  algorithm: isNumber,
  behaviour: isNumber,
  burst: isNumber,
  createdAtMs: maybe(isNumber),
};
const isParameter: Check = (value) => value === null || isText(value) || isNumber(value) || isFlag(value);
const EVENTS = { tenant: maybe(isText), group: maybe(isText) };

const BODIES = {
  work: WORK_OPEN,
  add: ADD,
  ack: ACK,
  beat: BEAT,
  results: RESULTS,
  events: EVENTS,
  name: NAME,
  list: LIST,
  tenant: { tenant: isText },
  tenants: { limit: isNumber, prefix: maybe(isText) },
  schedules: { limit: isNumber, tenant: maybe(isText) },
  recent: { limit: isNumber, status: maybe((value) => STATUSES.has(value)), group: maybe(isText) },
  history: { fromMs: isNumber },
  query: { sql: isText, parameters: isList(isParameter), tenants: maybe(isList(isText)) },
  task: { task: isNumber },
  dump: { prefix: isText },
  split: { at: maybe((value) => typeof value === "string" && /^[0-9a-f]{16}$/.test(value)) },
  rates: { requests: isList(hasShape(RATES)) },
} as const;

/** The body, when it has the shape of what is named. */
export function bodyOf<T>(what: keyof typeof BODIES, body: unknown): T {
  checkShape(body, BODIES[what], what);
  return body as T;
}
