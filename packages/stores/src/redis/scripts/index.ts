/** The scripts as they are loaded into Redis. */
import { createHash } from "node:crypto";
import { BEGIN } from "./begin.ts";
import { COMMIT, HISTORY, OPEN_SESSION, RANGE, RENEW, REVOKE, SWEEP, type Operation } from "./operations.ts";
import { prologue, type LogLimits } from "./prologue.ts";

export type { LogLimits } from "./prologue.ts";

interface Script {
  readonly source: string;
  /** What Redis knows it by. */
  readonly sha: string;
}

export type ScriptName =
  | "begin"
  | "range"
  | "commit"
  | "openSession"
  | "renew"
  | "revoke"
  | "sweep"
  | "history";

export type Scripts = Readonly<Record<ScriptName, Script>>;

export function scripts(limits: LogLimits): Scripts {
  const beginning = prologue(limits);
  const operation = ({ header, body }: Operation): Script => script(header + beginning + body);
  return {
    begin: script(BEGIN),
    range: operation(RANGE),
    commit: operation(COMMIT),
    openSession: operation(OPEN_SESSION),
    renew: operation(RENEW),
    revoke: operation(REVOKE),
    sweep: operation(SWEEP),
    history: operation(HISTORY),
  };
}

function script(source: string): Script {
  return { source, sha: createHash("sha1").update(source).digest("hex") };
}
