import { nearest } from "@keelson/kernel";

/** ` (did you mean x?)`, with the known word nearest to a mistyped one, or nothing when none is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}
