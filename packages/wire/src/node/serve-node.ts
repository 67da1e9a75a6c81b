import type { AbortSignalLike, NodeReply, NodeRequest, NodeStream } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";
import type { WireServer } from "../server/server.ts";
import { decodeRequest, encodeReply, REQUEST_METHOD, STREAM_METHOD } from "./messages.ts";

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
