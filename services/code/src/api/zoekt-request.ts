/**
 * What zoekt's clients ask, as they write it. zoekt reads fields in any case, takes null for "not said", and leaves alone what it does not know; its clients
 * have come to rely on it. What is of the wrong kind is refused with its name.
 */
import { z } from "zod";

/** Below zero is no bound, and so is the greatest number of Go, which is more than can be exact here. */
const count = z
  .number()
  .refine((value) => Number.isInteger(value), "expected a whole number")
  .transform((value) => (value < 0 ? Number.MAX_SAFE_INTEGER : Math.min(value, Number.MAX_SAFE_INTEGER)))
  .optional();
const flag = z.boolean().optional();

const Options = z.looseObject({
  EstimateDocCount: flag,
  Whole: flag,
  ShardMaxMatchCount: count,
  TotalMaxMatchCount: count,
  ShardRepoMaxMatchCount: count,
  /** Nanoseconds. */
  MaxWallTime: z.number().min(0).optional(),
  MaxDocDisplayCount: count,
  MaxMatchDisplayCount: count,
  NumContextLines: z.int().min(0).max(100).optional(),
  ChunkMatches: flag,
  UseBM25Scoring: flag,
  DebugScore: flag,
  /** Not zoekt's: patterns are text. */
  Literal: flag,
  /** Not zoekt's: files by repository, language and folder are counted, in a stream. */
  Facets: flag,
});

const Search = z.looseObject({
  Q: z.string(),
  RepoIDs: z.array(z.int().min(0)).optional(),
  Opts: Options.optional(),
});

const ListOptions = z.looseObject({ Field: z.int().optional() });

const List = z.looseObject({ Q: z.string().default(""), Opts: ListOptions.optional() });

export type ZoektOptions = NonNullable<z.output<typeof Search>["Opts"]>;

/** Throws RangeError for what is no search. */
export function readSearch(body: unknown): z.output<typeof Search> {
  return parsed(Search, named(body, Search, { Opts: Options }));
}

/** Throws RangeError for what is no request of a list. */
export function readList(body: unknown): z.output<typeof List> {
  return parsed(List, named(body ?? {}, List, { Opts: ListOptions }));
}

function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (!result.success) throw new RangeError(z.prettifyError(result.error));
  return result.data;
}

/** With fields by the names that the schema has for them, and without those that are null. */
function named(
  body: unknown,
  schema: { readonly shape: Readonly<Record<string, unknown>> },
  inside: Readonly<Record<string, typeof schema>> = {},
): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const names = new Map(Object.keys(schema.shape).map((name) => [name.toLowerCase(), name]));
  const fields: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(body)) {
    const name = names.get(given.toLowerCase());
    if (name === undefined || value === null || (name !== given && Object.hasOwn(body, name))) continue;
    const within = inside[name];
    fields[name] = within === undefined ? value : named(value, within);
  }
  return fields;
}
