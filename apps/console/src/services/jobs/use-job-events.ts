/**
 * Tells a page that something happened to jobs, so that it looks again: pages live on the queue's events and do not poll. Many events make one look a second. A
 * stream that ends is opened again with growing pauses; what happened in between is in the next look.
 */
import { useEffect, useState } from "preact/hooks";
import { events } from "../../api/event-stream.ts";
import { isAbort } from "../../api/problem.ts";

export interface JobEvents {
  /** Rises when a look is due. */
  readonly round: number;
  /** Whether the stream is open; undefined until that is known. */
  readonly live: boolean | undefined;
}

interface JobEvent {
  readonly kind: string;
  readonly id?: string;
}

const LOOK_MS = 1_000;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 30_000;

/** `id`: only events of this job count. */
export function useJobEvents(filter: { readonly tenant?: string; readonly id?: string } = {}): JobEvents {
  const [state, setState] = useState<JobEvents>({ round: 0, live: undefined });
  const { tenant, id } = filter;
  useEffect(() => {
    const controller = new AbortController();
    let due: ReturnType<typeof setTimeout> | undefined;
    let live: boolean | undefined;
    const look = (isLive: boolean): void => {
      live = isLive;
      due ??= setTimeout(() => {
        due = undefined;
        setState(({ round }) => ({ round: round + 1, live }));
      }, LOOK_MS);
    };
    void follow({ tenant, id }, controller.signal, look);
    return () => {
      controller.abort();
      clearTimeout(due);
    };
  }, [tenant, id]);
  return state;
}

async function follow(
  { tenant, id }: { readonly tenant: string | undefined; readonly id: string | undefined },
  signal: AbortSignal,
  look: (live: boolean) => void,
): Promise<void> {
  for (let pauseMs = PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      look(true);
      for await (const event of events<JobEvent>("/v1/jobs/events", { query: { tenant }, signal })) {
        pauseMs = PAUSE_MS;
        if (id === undefined || event.id === id || event.kind === "missed") look(true);
      }
    } catch (error) {
      // The page says that it is not live; whatever else is wrong, its own questions tell.
      if (!isAbort(error)) look(false);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
