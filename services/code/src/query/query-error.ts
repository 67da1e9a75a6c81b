/** A query that cannot be understood: what is wrong, what to do, and where in the text. */
export class QueryError extends Error {
  override readonly name = "QueryError";
  readonly code = "BAD_QUERY";
  /** Where it is wrong, in UTF-16 units from the beginning of the text. */
  readonly at: number;
  /** The problem without the place, as one clause. */
  readonly problem: string;

  constructor(problem: string, text: string, at: number) {
    super(`${problem}, at character ${at + 1}\n${pointAt(text, at)}`);
    this.problem = problem;
    this.at = at;
  }
}

/** How much of a long query is shown on each side of the place. */
const SHOWN = 32;

/** The text around the place, with a caret below it. */
function pointAt(text: string, at: number): string {
  const from = Math.max(0, at - SHOWN);
  const to = Math.min(text.length, at + SHOWN);
  const before = `${from > 0 ? "…" : ""}${visible(text.slice(from, at))}`;
  const after = `${visible(text.slice(at, to))}${to < text.length ? "…" : ""}`;
  return `  ${before}${after}\n  ${" ".repeat(before.length)}^`;
}

/** Control characters would move the caret, or the reader's terminal. */
function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for.
  return text.replaceAll(/[\u0000-\u001f\u007f]/g, " ");
}
