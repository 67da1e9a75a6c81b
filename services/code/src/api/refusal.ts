/** Failures that are found before a shard is asked, as the gateway says those of shards. */
import { HttpAnswer } from "@keelson/runtime";
import { CODE_ERRORS, CodeError } from "../code-error.ts";

export async function orRefusal<T>(work: () => Promise<T | HttpAnswer>): Promise<T | HttpAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CodeError)) throw error;
    const { code, message } = error;
    return new HttpAnswer({ error: { code, message } }, { status: CODE_ERRORS[code].status });
  }
}
