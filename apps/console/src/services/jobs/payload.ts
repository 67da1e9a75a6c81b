/** What people type as a payload: JSON if it is, text if not. A brace or bracket that does not close is a mistake, and said. */
import { Problem } from "../../api/problem.ts";

export function payloadOf(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!/^[{["]/.test(text)) return text;
    const why = error instanceof Error ? error.message : String(error);
    throw new Problem(400, "BAD_JSON", `The payload begins like JSON and is none: ${why}`);
  }
}

export function shown(value: unknown): string {
  return value === undefined ? "" : (JSON.stringify(value, null, 2) ?? "");
}
