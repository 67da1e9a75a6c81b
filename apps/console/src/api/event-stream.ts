/**
 * Server-sent events read through fetch, so that the token travels in a header and never in an address. One call is one connection: whoever
 * wants it again after it ended asks again.
 */
import { Problem } from "./problem.ts";
import { noted, respond, type Query } from "./request.ts";

/** A reader that falls this far behind one event has lost the thread: no event of ours is that long. */
const EVENT_CHARS_MAX = 16 * 1024 * 1024;

/** Each event's data, parsed, until the stream ends. Throws Problem, also for a failure that the stream itself tells of. */
export async function* events<T>(
  path: string,
  options: { readonly query?: Query | undefined; readonly body?: unknown; readonly signal: AbortSignal },
): AsyncGenerator<T, void> {
  // A question too long for an address is posted.
  const answer = await respond(options.body === undefined ? "GET" : "POST", path, {
    ...options,
    accept: "text/event-stream",
  });
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const event = rest.slice(0, end);
        rest = rest.slice(end + 2);
        const item = read(event);
        if (item !== undefined) yield item as T;
      }
      if (rest.length > EVENT_CHARS_MAX) throw new Problem(0, "TOO_LONG", "The stream cannot be read.");
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Undefined for a pulse that only says that the stream is alive. */
function read(event: string): unknown {
  let failed = false;
  let data: string | undefined;
  for (const line of event.split("\n")) {
    if (line.startsWith("data: ")) data = line.slice(6);
    else if (line === "event: error") failed = true;
  }
  if (data === undefined) return undefined;
  const item: unknown = JSON.parse(data);
  if (!failed) return item;
  const { code, message, status, ...details } = (item as { error: Record<string, unknown> }).error;
  throw noted(new Problem(Number(status), String(code), String(message), details));
}
