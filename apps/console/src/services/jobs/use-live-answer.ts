/** An answer that is asked for again when something happened. */
import { useEffect } from "preact/hooks";
import { useAnswer, type Answer } from "../../ui/use-answer.ts";

export function useLiveAnswer<T>(
  key: string,
  round: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Answer<T> {
  const answer = useAnswer(key, ask);
  useEffect(() => {
    if (round > 0) answer.again();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only the round says that a look is due.
  }, [round]);
  return answer;
}
