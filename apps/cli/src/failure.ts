/**
 * What a person reads when something went wrong: one line that says what to do, two more when it points at a place, and an exit code. 2 means that the command was not understood and
 * nothing was started; 1 that it was, and then failed. Stack traces are for --debug.
 */

import { redact } from "@keelson/runtime/redact";

/** The command line, the environment or a config file says something that cannot be done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Something on this machine or in the fleet stands in the way. */
export class RunError extends Error {
  override readonly name = "RunError";
}

export interface Failure {
  readonly line: string;
  readonly exitCode: 1 | 2;
}

/** Failures that are told in their own words, by the names of their classes: the classes themselves would load half of the product. */
const KNOWN: readonly string[] = [
  "StoreError",
  "TransportError",
  "KeelsonError",
  "AdminError",
  "ObjectError",
  "FolderError",
  "StoreUrlError",
  "UsageError",
  "RunError",
  "ApiError",
];

export function failureOf(error: unknown): Failure {
  const expected = error instanceof Error && KNOWN.includes(error.name);
  const message = error instanceof Error ? error.message : String(error);
  return {
    line: redact(expected ? pointedAt(message) : oneLine(`unexpected: ${message} (--debug shows where)`)),
    exitCode: isUsage(error) ? 2 : 1,
  };
}

/** Turns a failure to listen into words; anything else is left as it is. `flag` is what would choose another address. */
export function listenFailure(error: unknown, where: string, flag: string): unknown {
  switch (errnoOf(error)) {
    case "EADDRINUSE":
      return new RunError(
        `${where} is in use: stop what listens there, or choose another address with ${flag}`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new RunError(
        `${where} is not an address of this machine: choose one with ${flag}, 127.0.0.1:0 say`,
      );
    case "EACCES":
      return new RunError(`${where} is not allowed to this user: choose a port from 1024 up with ${flag}`);
    default:
      return error;
  }
}

function isUsage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "" } = error as { code?: string };
  if (error.name === "KeelsonError") return code === "BAD_CONFIG" || code === "BAD_SERVICE";
  return error.name === "UsageError" || error.name === "StoreUrlError" || code === "OBJECT_URL_INVALID";
}

/** The system's error code, of the error itself or of what caused it. */
function errnoOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && typeof at.code === "string" && /^E[A-Z_]+$/.test(at.code)) return at.code;
  return undefined;
}

/** What ends with a line and a caret below it keeps these two: on one line the caret would point at nothing. */
function pointedAt(message: string): string {
  const { what, place } = /^(?<what>[^]*?)(?<place>\n[^\n]*\n *\^)\s*$/.exec(message)?.groups ?? {};
  return what === undefined || place === undefined ? oneLine(message) : oneLine(what) + place;
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").trim();
}
