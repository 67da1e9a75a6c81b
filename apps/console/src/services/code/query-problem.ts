/** What the gateway says of a query that cannot be understood: a clause, the place, and the text with a caret below it, which the page draws itself. */

export interface QueryProblem {
  readonly message: string;
  /** In characters from the beginning of the query; undefined when it is about the whole. */
  readonly at: number | undefined;
}

export function queryProblem(text: string): QueryProblem {
  const [first = text] = text.split("\n");
  const [, message, place] = /^(.*), at character (\d+)$/s.exec(first) ?? [];
  return message === undefined
    ? { message: first, at: undefined }
    : { message, at: Math.max(0, Number(place) - 1) };
}
