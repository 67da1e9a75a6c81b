import type { AbortSignalLike, NodeReply, NodeRequest } from "@keelson/kernel";
import type { WireServer } from "../server/server.ts";
import { decodeRequest, encodeReply, REQUEST_METHOD } from "./messages.ts";

/** Answers other nodes' and gateways' requests. `signal` is aborted when the caller no longer waits. */
export function serveNode(
  server: WireServer,
  handle: (request: NodeRequest, signal: AbortSignalLike) => Promise<NodeReply>,
): void {
  server.method(REQUEST_METHOD, async (call) => encodeReply(await handle(decodeRequest(call.body), call)));
}
