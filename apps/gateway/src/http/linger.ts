import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "@keelson/runtime";

const LINGER_MS = 1_000;
const LINGER_BYTES_MAX = 4 * 1024 * 1024;

/**
 * After an answer that did not wait for the request's body: goes on reading a little, then ends the connection. Ending it at once would reset it,
 * and the caller, busy sending, would never see the answer.
 */
export function linger(request: IncomingMessage, response: ServerResponse, clock: Clock): void {
  const { socket } = request;
  let bytes = 0;
  const timer = clock.after(LINGER_MS, () => socket.destroy());
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) socket.destroy();
  });
  request.on("error", () => socket.destroy());
  request.once("end", () => {
    timer.cancel();
    if (response.writableFinished) socket.end();
  });
  socket.once("close", () => timer.cancel());
  request.resume();
}
