/** How requests that cannot be understood are refused: with a code of ours, and at zoekt's paths as zoekt does. */
import { CodeError } from "../code-error.ts";
import { QueryError } from "../query/index.ts";

/** As zoekt says that a request is wrong. */
export function zoektRefusal(message: string): { readonly Error: string } {
  return { Error: message };
}

/** Runs it, and gives what it throws a code: a query that is none has its own, a RangeError asks for what cannot be. */
export async function refusing<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof QueryError) throw new CodeError("BAD_QUERY", error.message, { cause: error });
    if (error instanceof RangeError) throw new CodeError("BAD_REQUEST", error.message, { cause: error });
    throw error;
  }
}
