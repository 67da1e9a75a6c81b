/** What a handler did, as a report: its value, or what it threw. */
import { encodeValue } from "../client/values.ts";
import { JOB_LIMITS, type AttemptOutcome } from "../engine/index.ts";
import type { JobStopped } from "./running-job.ts";

const STACK_CHARS_MAX = 4_000;

/** Most handlers return nothing. */
const NOTHING: AttemptOutcome = { kind: "succeeded", result: encodeValue(undefined) };

export function succeeded(value: unknown): AttemptOutcome {
  if (value === undefined) return NOTHING;
  let result: Uint8Array;
  try {
    result = encodeValue(value);
  } catch (error) {
    return failed(
      Object.assign(new Error(`the handler's result is no plain data: ${String(error)}`), {
        code: "RESULT_INVALID",
      }),
    );
  }
  if (result.length > JOB_LIMITS.resultBytesMax)
    return failed(
      Object.assign(
        new Error(
          `the handler's result has ${result.length} bytes; ${JOB_LIMITS.resultBytesMax} are allowed`,
        ),
        {
          code: "RESULT_TOO_LARGE",
        },
      ),
    );
  return { kind: "succeeded", result };
}

/** A handler that stops because its job was cancelled throws its signal's reason, or something that follows from it: that is a cancelled attempt. */
export function failed(error: unknown, stopped?: JobStopped): AttemptOutcome {
  if (stopped?.code === "CANCELLED") return { kind: "cancelled" };
  try {
    return described(error);
  } catch {
    // Anything can be thrown, also what cannot be looked at; the attempt has failed all the same.
    return {
      kind: "failed",
      code: "THROWN",
      data: encodeValue({ message: "what was thrown cannot be shown" }),
    };
  }
}

function described(error: unknown): AttemptOutcome {
  const code = codeOf(error).slice(0, JOB_LIMITS.errorCodeCharsMax);
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack?.slice(0, STACK_CHARS_MAX) : undefined;
  return { kind: "failed", code, data: encodeValue({ message: message.slice(0, STACK_CHARS_MAX), stack }) };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "THROWN";
  return "code" in error && typeof error.code === "string" && error.code !== ""
    ? error.code
    : error.name || "Error";
}
