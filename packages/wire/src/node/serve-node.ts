import type { AbortSignalLike, NodeReply, NodeRequest, NodeStream } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";
import type { OutgoingStream } from "../server/outgoing-stream.ts";
import type { WireServer } from "../server/server.ts";
import {
  decodeMany,
  decodeRequest,
  encodeReply,
  MANY_METHOD,
  REQUEST_METHOD,
  STREAM_METHOD,
} from "./messages.ts";

/** Answers other nodes' and gateways' requests. `signal` is aborted when the caller no longer waits. */
export function serveNode(
  server: WireServer,
  handle: (request: NodeRequest, signal: AbortSignalLike) => Promise<NodeReply>,
): void {
  server.method(REQUEST_METHOD, async (call) => encodeReply(await handle(decodeRequest(call.body), call)));
}

/** The same for requests with many answers: the first item is the reply, those after it are the shard's. */
export function serveNodeStreams(
  server: WireServer,
  open: (request: NodeRequest, signal: AbortSignalLike) => Promise<NodeStream>,
): void {
  server.stream(STREAM_METHOD, async (stream) => {
    const { reply, items } = await open(decodeRequest(stream.body), stream);
    stream.write(encodeReply(reply));
    if (reply.kind !== "ok") return;
    try {
      for await (const item of items) {
        if (stream.aborted) break;
        if (!stream.write(item) && !(await stream.ready())) break;
      }
    } catch (error) {
      // The shard's own code reaches the reader, as it does for a request with one answer.
      if (error instanceof Error && "code" in error && typeof error.code === "string")
        throw new WireFailure(error.code, error.message);
      throw error;
    }
  });
}

/** Requests of one exchange that are carried out at once. What they answer waits for the reader, so this also bounds memory. */
const MANY_CONCURRENT_MAX = 64;

/** The same for one request of many shards. */
export function serveNodeMany(
  server: WireServer,
  handle: (request: NodeRequest, signal: AbortSignalLike) => Promise<NodeReply>,
): void {
  server.stream(MANY_METHOD, async (stream) => {
    const requests = decodeMany(stream.body);
    let next = 0;
    let turn: Promise<unknown> = Promise.resolve();
    // One item leaves at a time, and only when the reader takes it: what waits is the answers, not copies of them.
    const send = (at: number, reply: NodeReply): Promise<unknown> =>
      (turn = turn.then(async () => write(stream, at, reply) || stream.ready()));
    const work = async (): Promise<void> => {
      for (let at = next++; at < requests.length && !stream.aborted; at = next++) {
        let leave: () => void = () => undefined;
        const left = new Promise<void>((resolve) => {
          leave = resolve;
        });
        try {
          await send(at, await replyOf(handle, { ...requests[at]!, left }, stream));
        } finally {
          leave();
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(requests.length, MANY_CONCURRENT_MAX) }, work));
  });
}

/** An answer that cannot be sent, because it is too large or no plain data, must not take the others' with it. */
function write(stream: OutgoingStream, at: number, reply: NodeReply): boolean {
  try {
    return stream.write([at, encodeReply(reply)], bytesIn(reply));
  } catch (error) {
    if (!(error instanceof WireFailure)) throw error;
    const { code, message } = error;
    return stream.write([at, encodeReply({ kind: "error", code, message })]);
  }
}

/** Fields of an answer that are looked at for bytes. */
const FIELDS_MAX = 16;

/** Of the answer itself or in its first fields: answers that hold many have them there. */
function bytesIn(reply: NodeReply): number {
  if (reply.kind !== "ok" || typeof reply.body !== "object" || reply.body === null) return 0;
  const { body } = reply;
  if (body instanceof Uint8Array) return body.byteLength;
  if (Array.isArray(body)) return 0;
  let bytes = 0;
  let fields = 0;
  for (const name in body) {
    const value = (body as Readonly<Record<string, unknown>>)[name];
    if (value instanceof Uint8Array) bytes += value.byteLength;
    if (++fields === FIELDS_MAX) break;
  }
  return bytes;
}

/** One that fails must not take the others' answers with it. */
async function replyOf(
  handle: (request: NodeRequest, signal: AbortSignalLike) => Promise<NodeReply>,
  request: NodeRequest,
  signal: AbortSignalLike,
): Promise<NodeReply> {
  try {
    return await handle(request, signal);
  } catch (error) {
    return { kind: "error", code: "INTERNAL", message: String(error) };
  }
}
