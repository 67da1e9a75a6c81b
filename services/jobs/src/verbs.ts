/** `keelson jobs …`: the commands, on top of the HTTP API. */
import type { Verb, VerbCall, Verbs } from "@keelson/runtime";
import { DEFAULT_TENANT } from "./shard/ranges.ts";

type Shown = Readonly<Record<string, unknown>>;

const TENANT = { flags: "--tenant <name>", about: "whose job", value: DEFAULT_TENANT };

function tenantOf({ options }: VerbCall): string {
  const { tenant } = options;
  return typeof tenant === "string" ? tenant : DEFAULT_TENANT;
}

/** A command on one job. */
function onJob(route: string, about: string, done: string): Verb {
  return {
    about,
    arguments: [{ name: "<id>", about: "which job" }],
    options: [TENANT],
    async run(call) {
      const id = call.args[0] ?? "";
      await call.api(route, { params: { tenant: tenantOf(call), id } });
      call.print.line(`job ${id} ${done}`, { id });
    },
  };
}

/** What was typed cannot be meant; the CLI knows it by its name. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

/** An option that is a whole number, or was left out. */
function wholeOf({ options }: VerbCall, name: string): number | undefined {
  const text = options[name];
  if (typeof text !== "string") return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new UsageError(`--${name} takes a whole number, 0 or more, not ${text}`);
  return Number(text);
}

/** A request waits for a minute at most; a person may have more patience. */
const WAIT_STEP_MS = 60_000;

async function endOf({ api }: VerbCall, params: object, waitMs: number): Promise<Shown> {
  for (let leftMs = waitMs; ; leftMs -= WAIT_STEP_MS) {
    const query = { waitMs: Math.min(leftMs, WAIT_STEP_MS) };
    try {
      // oxlint-disable-next-line no-await-in-loop -- as long as was asked for.
      return (await api("result", { params, query })) as Shown;
    } catch (error) {
      if (leftMs <= WAIT_STEP_MS || (error as { code?: unknown }).code !== "WRONG_STATE") throw error;
    }
  }
}

/** JSON if it is, text if not. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export const jobsVerbs: Verbs = {
  enqueue: {
    about: "enqueue a job",
    arguments: [
      { name: "<group>", about: "the task group whose workers run it" },
      { name: "[payload]", about: "JSON, or text" },
    ],
    options: [
      TENANT,
      { flags: "--id <id>", about: "its id; the same id with the same content is the same job" },
      { flags: "--priority <n>", about: "0 runs first, 99 last (50)" },
      { flags: "--delay <ms>", about: "how long it waits at least" },
      { flags: "--retries <n>", about: "tries after the first (0)" },
      { flags: "--wait <ms>", about: "wait for its end, and print it" },
    ],
    async run(call) {
      const { args, options, api, print } = call;
      const tenant = tenantOf(call);
      const [priority, delay, retries, waitMs] = ["priority", "delay", "retries", "wait"].map((name) =>
        wholeOf(call, name),
      );
      const body = {
        group: args[0],
        payload: args[1] === undefined ? null : valueOf(args[1]),
        id: options["id"],
        priority,
        ...(delay === undefined ? {} : { startAtMs: Date.now() + delay }),
        ...(retries === undefined ? {} : { retry: { retries } }),
      };
      const enqueued = (await api("enqueue", { params: { tenant }, body })) as { readonly id: string };
      if (waitMs === undefined) return print.record(enqueued);
      const params = { tenant, id: enqueued.id };
      print.record({ ...enqueued, ...(await endOf(call, params, waitMs)) });
    },
  },
  get: {
    about: "show a job with its attempts",
    arguments: [{ name: "<id>", about: "which job" }],
    options: [TENANT],
    async run(call) {
      const params = { tenant: tenantOf(call), id: call.args[0] };
      call.print.record((await call.api("get", { params })) as Shown);
    },
  },
  list: {
    about: "list a tenant's jobs, those that changed last first",
    options: [
      TENANT,
      { flags: "--status <status>", about: "scheduled, running, succeeded, failed or cancelled" },
      { flags: "--limit <n>", about: "how many at most", value: "20" },
    ],
    async run(call) {
      const { status, limit } = call.options;
      const query = { limit, ...(status === undefined ? {} : { status }) };
      const { jobs } = (await call.api("list", { params: { tenant: tenantOf(call) }, query })) as {
        jobs: Shown[];
      };
      const rows = jobs.map((job) => ({
        ...job,
        changed: new Date(Number(job["statusAtMs"])).toISOString(),
      }));
      call.print.table(rows, ["id", "group", "status", "waitsFor", "priority", "changed"]);
    },
  },
  cancel: onJob(
    "cancel",
    "cancel a job; a worker that runs it is told",
    "is cancelled, or will be when its worker stops",
  ),
  restart: onJob("restart", "run a job again that failed or was cancelled", "runs again"),
  stats: {
    about: "show how many jobs there are, and what each group has to do",
    async run({ api, print }) {
      const stats = (await api("stats")) as Shown & { readonly jobs: Shown };
      const { groups } = (await api("groups")) as { groups: Shown[] };
      print.record({
        ...stats.jobs,
        tenants: stats["tenants"],
        leases: stats["leases"],
        schedules: stats["schedules"],
      });
      print.table(groups, ["group", "paused", "ready", "running"]);
    },
  },
  tail: {
    about: "follow what happens to jobs",
    options: [
      { flags: "--tenant <name>", about: "only this tenant's" },
      { flags: "--group <name>", about: "only this group's" },
    ],
    async run(call) {
      const { options, print } = call;
      for await (const event of call.follow("events", { query: options })) {
        const { kind, tenant, id, status, progress, count } = event as Readonly<Record<string, unknown>>;
        const text =
          kind === "missed"
            ? `${String(count)} events were missed`
            : `${String(tenant)} ${String(id)} ${kind === "status" ? String(status) : `progress ${JSON.stringify(progress)}`}`;
        print.line(text, event);
      }
    },
  },
  dump: {
    about: "print what a shard holds, by key",
    arguments: [{ name: "<shard>", about: "which shard" }],
    options: [
      {
        flags: "--prefix <prefix>",
        about: "only keys that begin so: jobs/, tasks/, lease/, idx/",
        value: "",
      },
    ],
    async run(call) {
      const { args, options, print } = call;
      const input = { params: { shard: args[0] }, query: { prefix: options["prefix"] ?? "" } };
      for await (const line of call.follow("dump", input)) {
        const { key, value } = line as { readonly key: string; readonly value: unknown };
        print.line(`${key} ${JSON.stringify(value)}`, line);
      }
    },
  },
};
