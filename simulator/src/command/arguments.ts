import { BREAKABLE, huntFor, rulesWithout } from "../breaks.ts";
import { nearest } from "@keelson/kernel";

/** What the command line asks for. */
export type Request =
  | { readonly kind: "run"; readonly options: RunArguments }
  | { readonly kind: "help" }
  | { readonly kind: "list-rules" }
  | { readonly kind: "list-scenarios" }
  | { readonly kind: "mistake"; readonly message: string };

export interface RunArguments {
  readonly hours: number;
  readonly seed: number | undefined;
  readonly scenario: string;
  readonly breaks: string | undefined;
  readonly trace: boolean;
  /** Instead of one run: many, with one thing after the other turned, and a report. */
  readonly report: boolean;
  /** Replaces numbers of the scenario. */
  readonly nodes: number | undefined;
  readonly shards: number | undefined;
  readonly replicas: number | undefined;
  readonly requests: number | undefined;
  readonly faults: number | undefined;
  /** Ends the run once so many violations were found. */
  readonly stopAfter: number;
}

interface Flag {
  readonly value: "number" | "whole" | "text" | "none";
  readonly about: string;
}

const FLAGS = {
  hours: { value: "number", about: "how long, in simulated hours (1; for each run of a report 0.2)" },
  seed: { value: "whole", about: "replay the run of that seed" },
  scenario: { value: "text", about: "which world (default, or with --break a hunt); alone: lists them" },
  break: { value: "text", about: "switch one safety rule off; alone: lists them" },
  report: { value: "none", about: "turn TTL, window, parallelism and autoscaling; for auctions and claims" },
  trace: { value: "none", about: "print every event, one line each" },
  nodes: { value: "whole", about: "so many nodes" },
  shards: { value: "whole", about: "so many shards" },
  replicas: { value: "whole", about: "so many replicas of each shard" },
  requests: { value: "number", about: "so many requests a second" },
  faults: { value: "number", about: "so many faults a minute" },
  "stop-after": { value: "whole", about: "end the run after so many violations (1000)" },
  help: { value: "none", about: "this text" },
} as const satisfies Record<string, Flag>;

const SHORT_FLAGS: Readonly<Record<string, keyof typeof FLAGS>> = { "-h": "help" };

export function readArguments(args: readonly string[], scenarios: readonly string[]): Request {
  const given = new Map<string, string>();
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    const [word, inline] = splitEquals(arg);
    const name = SHORT_FLAGS[word] ?? word.slice(2);
    if (SHORT_FLAGS[word] === undefined && !word.startsWith("--"))
      return mistake(`"${arg}" is not a flag: flags begin with --`);
    if (!isFlag(name))
      return mistake(
        unknown(
          "flag",
          word,
          Object.keys(FLAGS).map((each) => `--${each}`),
        ),
      );
    const takes = FLAGS[name].value !== "none";
    if (!takes && inline !== undefined) return mistake(`--${name} takes no value`);
    if (
      takes &&
      inline === undefined &&
      args[i + 1] !== undefined &&
      !(args[i + 1] as string).startsWith("--")
    )
      given.set(name, args[++i] as string);
    else given.set(name, inline ?? "");
  }
  if (given.has("help")) return { kind: "help" };
  if (given.get("break") === "") return { kind: "list-rules" };
  if (given.get("scenario") === "") return { kind: "list-scenarios" };
  return readRun(given, scenarios);
}

function readRun(given: ReadonlyMap<string, string>, scenarios: readonly string[]): Request {
  const numbers = new Map<string, number>();
  for (const [name, text] of given) {
    const { value } = FLAGS[name as keyof typeof FLAGS] as Flag;
    if (value !== "number" && value !== "whole") continue;
    const number = Number(text);
    const good =
      text !== "" &&
      Number.isFinite(number) &&
      number >= 0 &&
      (value === "number" || Number.isSafeInteger(number));
    if (!good) return mistake(`--${name} needs a ${value === "whole" ? "whole " : ""}number, not "${text}"`);
    numbers.set(name, number);
  }
  if (numbers.get("hours") === 0) return mistake("--hours must be more than 0");
  for (const name of ["nodes", "shards", "replicas", "stop-after"])
    if (numbers.get(name) === 0) return mistake(`--${name} must be at least 1`);
  const breaks = given.get("break");
  if (breaks !== undefined && rulesWithout(breaks) === undefined)
    return mistake(
      unknown(
        "rule",
        breaks,
        BREAKABLE.map((rule) => rule.name),
      ),
    );
  const scenario = given.get("scenario") ?? (breaks === undefined ? "default" : huntFor(breaks));
  if (!scenarios.includes(scenario)) return mistake(unknown("scenario", scenario, scenarios));
  return {
    kind: "run",
    options: {
      hours: numbers.get("hours") ?? (given.has("report") ? reportHours : 1),
      seed: numbers.get("seed"),
      scenario,
      breaks,
      trace: given.has("trace"),
      report: given.has("report"),
      nodes: numbers.get("nodes"),
      shards: numbers.get("shards"),
      replicas: numbers.get("replicas"),
      requests: numbers.get("requests"),
      faults: numbers.get("faults"),
      stopAfter: numbers.get("stop-after") ?? 1_000,
    },
  };
}

/** Of each of some sixteen runs: enough for several hundred auctions beside the first five hundred. */
const reportHours = 0.2;

export function usage(): string {
  const lines = Object.entries<Flag>(FLAGS).map(([name, { value, about }]) => {
    const shape = `--${name}${value === "none" ? "" : value === "text" ? " <name>" : " <n>"}`;
    return `  ${shape.padEnd(20)} ${about}`;
  });
  return [
    "usage: npm run sim -- [flags]",
    ...lines,
    "exit code: 0 no violation, 3 violations, 2 wrong arguments, 1 the simulator itself failed",
    "",
  ].join("\n");
}

function splitEquals(arg: string): [string, string | undefined] {
  const at = arg.indexOf("=");
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

function isFlag(name: string): name is keyof typeof FLAGS {
  return Object.hasOwn(FLAGS, name);
}

function unknown(what: string, word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return `unknown ${what} "${word}"${near === undefined ? "" : `: did you mean "${near}"?`} (known: ${known.join(", ")})`;
}

function mistake(message: string): Request {
  return { kind: "mistake", message };
}
