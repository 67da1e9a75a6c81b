/**
 * Between repositories that answer and the reader of a stream: takes answers as they come, and keeps them until they are read. What waits is bounded, for one reader and for all of a process: a
 * reader that takes nothing costs so much and no more, and nodes do not wait for it. What finds no room goes on without its files, and says so.
 */
import { SystemClock } from "@keelson/runtime";
import { AnswerMemory, type HeldAnswer } from "../search/answer-memory.ts";
import type { PackedEvent } from "./fleet-search.ts";

/** Of all streams of a process. */
const unreadBytesMax = 128 << 20;
/** Of one: six of the largest answers. */
const unreadBytesEach = 48 << 20;

const shared = new AnswerMemory(unreadBytesMax, new SystemClock());

interface Unread {
  readonly event: PackedEvent;
  readonly bytes: number;
  readonly held: HeldAnswer | undefined;
}

export async function* asRead(
  events: AsyncGenerator<PackedEvent>,
  signal: AbortSignal,
  { memory = shared, bytesMax = unreadBytesEach } = {},
): AsyncGenerator<PackedEvent> {
  const unread: Unread[] = [];
  let bytes = 0;
  let wake = (): void => undefined;
  let ended: { readonly error?: unknown } | undefined;
  const taking = (async () => {
    for await (const event of events) {
      if (ended) return;
      const taken = await keep(event, bytes < bytesMax ? memory : undefined, signal);
      if (ended) return taken.held?.release();
      bytes += taken.bytes;
      unread.push(taken);
      wake();
    }
  })();
  const taken = taking.then(
    () => (ended ??= {}),
    (error: unknown) => (ended ??= { error }),
  );
  void taken.then(() => wake());
  try {
    for (;;) {
      const next = unread.shift();
      if (next) {
        try {
          yield next.event;
        } finally {
          // Whoever reads comes back when it has left.
          bytes -= next.bytes;
          next.held?.release();
        }
      } else if (ended) {
        if ("error" in ended) throw ended.error;
        return;
      } else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    ended ??= {};
    for (const { held } of unread) held?.release();
  }
}

async function keep(
  event: PackedEvent,
  memory: AnswerMemory | undefined,
  signal: AbortSignal,
): Promise<Unread> {
  const size = event.kind === "answer" ? event.answer.packed.length : 0;
  if (event.kind !== "answer" || size === 0) return { event, bytes: 0, held: undefined };
  const held = await memory?.hold(size, 0, signal);
  if (held) return { event, bytes: size, held };
  const answer = { ...event.answer, packed: NOTHING, partial: "stream-memory" as const };
  return { event: { ...event, answer }, bytes: 0, held: undefined };
}

const NOTHING = new Uint8Array(0);
