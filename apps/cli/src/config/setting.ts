/** The kinds of value that a setting may have, each a schema whose message says what to write. Values come as text, or as TOML has them. */
import { z } from "zod";
import { parseDurationMs } from "./duration.ts";

export interface Setting {
  /** How the value is shown in help: `<name>`; empty for a setting that is on or off. */
  readonly value: string;
  readonly about: string;
  readonly schema: z.ZodType;
  /** `--no-<name>` says no, for a setting that is sometimes on by itself. */
  readonly isDeniable?: boolean;
}

/** Text that `problem` finds nothing wrong with. */
export function text(problem: (value: string) => string | undefined): z.ZodType<string, string> {
  return z.string("must be text").superRefine((value, context) => {
    const message = problem(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

/** A number that may come as text, from the environment or the command line. */
export function number(least: number, most: number, whole: boolean): z.ZodType<number> {
  const message = `must be a ${whole ? "whole " : ""}number from ${least} to ${most}`;
  return z
    .union([z.number(), z.string().regex(/\S/).transform(Number)], message)
    .refine((value) => value >= least && value <= most && (!whole || Number.isInteger(value)), message);
}

export const duration = z
  .string("must be a length of time with its unit: 500ms, 10s, 2m")
  .transform((value, context) => {
    const ms = parseDurationMs(value);
    if (ms !== undefined) return ms;
    context.addIssue({ code: "custom", message: "must be a length of time with its unit: 500ms, 10s, 2m" });
    return z.NEVER;
  });

/** Several, with commas or as a list in a file. */
export function list(message: string, least = 1): z.ZodType<string[]> {
  return z
    .union([z.string(), z.array(z.string())], message)
    .transform((value) => (typeof value === "string" ? value.split(",") : value).map((one) => one.trim()))
    .refine((names) => names.length >= least && names.every((name) => name !== ""), message);
}

const ON_OFF = "must be true or false";

/** On or off. */
export const flag = z
  .union([z.boolean(), z.enum(["true", "false", "1", "0"], ON_OFF)], ON_OFF)
  .transform((value) => value === true || value === "true" || value === "1");

export const folder = text((value) => (value === "" ? "must name a folder" : undefined));
export const file = text((value) => (value === "" ? "must name a file" : undefined));

/** What a check throws, as the problem. */
export function thrown(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
