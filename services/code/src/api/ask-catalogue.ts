/** Asks the shard that keeps the catalogue: once, or page by page for all of it. */
import type { FleetAccess } from "@keelson/runtime";
import { CATALOGUE_SHARD, type Repository } from "../repository.ts";
import type { Page, PageRequest } from "../repository-page.ts";

const answerMsMax = 10_000;

interface AskTerms {
  readonly trace?: string | undefined;
  /** How long a holder is waited for; as long as an answer when left out. */
  readonly patienceMs?: number;
  readonly timeoutMs?: number;
}

export async function askCatalogue<T>(
  access: FleetAccess,
  method: string,
  body: unknown,
  { trace, patienceMs, timeoutMs = answerMsMax }: AskTerms = {},
): Promise<T> {
  const answer = await access.call({
    service: "code",
    shard: CATALOGUE_SHARD,
    method,
    mode: "read",
    body,
    timeoutMs,
    ...(trace === undefined ? {} : { trace }),
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
  return answer.body as T;
}

/** The whole list. It is of the oldest revision that a page is of: pages may come from different nodes, and what one of them had not seen yet is in the next list. */
export async function allPages<Row extends Repository>(
  access: FleetAccess,
  method: "list" | "status",
  terms: AskTerms = {},
): Promise<{ readonly revision: number; readonly repositories: readonly Row[] }> {
  const repositories: Row[] = [];
  let oldest: number | undefined;
  let after: number | undefined = 0;
  while (after !== undefined) {
    const request: PageRequest = { after };
    const page: Page<Row> = await askCatalogue(access, method, request, terms);
    oldest = Math.min(oldest ?? page.revision, page.revision);
    for (const row of page.repositories) repositories.push(row);
    after = page.next;
  }
  return { revision: oldest ?? 0, repositories };
}
