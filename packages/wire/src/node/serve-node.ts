import type { AbortSignalLike, NodeReply, NodeRequest, NodeStream } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";
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
    const send = (item: unknown): Promise<unknown> =>
      (turn = turn.then(async () => stream.write(item) || stream.ready()));
    const work = async (): Promise<void> => {
      for (let at = next++; at < requests.length && !stream.aborted; at = next++) {
        let leave: () => void = () => undefined;
        const left = new Promise<void>((resolve) => {
          leave = resolve;
        });
        try {
          await send([at, encodeReply(await replyOf(handle, { ...requests[at]!, left }, stream))]);
        } finally {
          leave();
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(requests.length, MANY_CONCURRENT_MAX) }, work));
  });
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
