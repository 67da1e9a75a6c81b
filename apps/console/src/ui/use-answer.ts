/** The answer of one call, for a page: loading, then what came. It asks again when the key changes, and drops what comes too late. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, isAbort, type Problem } from "../api/problem.ts";

export interface Answer<T> {
  /** The last good one, also while another is on its way, so that a page does not flicker. */
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly loading: boolean;
  readonly again: () => void;
}

/** `about`: while it stays the same, the former answer is shown until the next one is there. The key, when left out. */
export function useAnswer<T>(key: string, ask: (signal: AbortSignal) => Promise<T>, about = key): Answer<T> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<Omit<Answer<T>, "again"> & { readonly about: string }>({
    about,
    value: undefined,
    problem: undefined,
    loading: true,
  });
  // The key says when the question changes.
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({
      about,
      value: before.about === about ? before.value : undefined,
      problem: undefined,
      loading: true,
    }));
    ask(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ about, value, problem: undefined, loading: false });
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return;
        setState((before) => ({ ...before, problem: asProblem(error), loading: false }));
      },
    );
    return () => controller.abort();
  }, [key, round]);
  return { ...state, again: () => setRound((n) => n + 1) };
}
