/**
 * Sends items as they come: server-sent events when the caller accepts them, lines of JSON otherwise. It waits for the reader, says now and then
 * that it is still there, and gives up on one that takes nothing for long. A failure after the first item is the last item.
 */
import { JsonText, redact, type Clock } from "@keelson/runtime";
import type { Problem } from "../problem.ts";
import type { Exchange } from "./exchange.ts";

export interface StreamTerms {
  readonly clock: Clock;
  readonly pulseMs: number;
  readonly stallMs: number;
  /** Told when what was written waits for the reader. */
  readonly waits: () => void;
  /** What the caller is told of a failure. */
  readonly problemOf: (error: unknown) => Problem;
}

interface Format {
  readonly type: string;
  readonly pulse: string;
  /** Around the JSON of an item. */
  readonly before: string;
  readonly after: string;
  failure(problem: Problem): string;
}

const EVENTS: Format = {
  type: "text/event-stream",
  pulse: ": \n\n",
  before: "data: ",
  after: "\n\n",
  failure: (problem) => `event: error\ndata: ${JSON.stringify(failureOf(problem))}\n\n`,
};

const LINES: Format = {
  type: "application/x-ndjson",
  pulse: "\n",
  before: "",
  after: "\n",
  failure: (problem) => `${JSON.stringify(failureOf(problem))}\n`,
};

/** Resolves when the stream has ended, however it ended. Throws only before the first byte has left. */
export async function sendItems(
  exchange: Exchange,
  items: AsyncIterable<unknown>,
  terms: StreamTerms,
): Promise<Problem | undefined> {
  const format = /\btext\/event-stream\b/.test(exchange.request.headers.accept ?? "") ? EVENTS : LINES;
  const { response } = exchange;
  const iterator = items[Symbol.asyncIterator]();
  // What fails before the first item is an ordinary error answer, with its status.
  const first = await iterator.next();
  response.writeHead(200, { ...exchange.headers, "content-type": format.type, "cache-control": "no-store" });
  response.flushHeaders();
  const pulse = pulsing(exchange, format, terms);
  let refused: Problem | undefined;
  exchange.onRefused((problem) => {
    refused = problem;
    pulse.stop();
    response.end(format.failure(problem));
  });
  try {
    for (let next = first; next.done !== true && !exchange.gone; next = await iterator.next())
      if (!write(response, format, next.value) && !(await drained(exchange, terms))) break;
    if (!refused) response.end();
    return refused;
  } catch (error) {
    if (refused) return refused;
    const problem = terms.problemOf(error);
    response.end(format.failure(problem));
    return problem;
  } finally {
    pulse.stop();
    exchange.abort();
    await iterator.return?.(undefined);
  }
}

/** False when the reader has not taken it yet. */
function write(response: Exchange["response"], { before, after }: Format, item: unknown): boolean {
  if (!(item instanceof JsonText)) return response.write(`${before}${JSON.stringify(item ?? null)}${after}`);
  if (before !== "") response.write(before);
  for (const piece of item.pieces) response.write(piece);
  return response.write(after);
}

function pulsing(exchange: Exchange, format: Format, { clock, pulseMs }: StreamTerms): { stop(): void } {
  let timer = clock.after(pulseMs, beat);
  function beat(): void {
    if (!exchange.response.writableNeedDrain) exchange.response.write(format.pulse);
    timer = clock.after(pulseMs, beat);
  }
  return { stop: () => timer.cancel() };
}

/** Waits until the reader has taken what was written; false when it has left or takes nothing. */
function drained({ response }: Exchange, { clock, stallMs, waits }: StreamTerms): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (took: boolean) => (): void => {
      timer.cancel();
      response.off("drain", onDrain).off("close", onClose);
      if (!took) response.destroy();
      resolve(took);
    };
    const onDrain = end(true);
    const onClose = end(false);
    const timer = clock.after(stallMs, onClose);
    response.once("drain", onDrain).once("close", onClose);
    waits();
  });
}

function failureOf({ code, status, message, details }: Problem): unknown {
  return { error: { code, status, message: redact(message), ...details } };
}
