/** A building thread: turns text in a building memory into a segment, and copies it to where it stays. */
import { parentPort } from "node:worker_threads";
import { RESERVED_BYTES, openKernels } from "../kernels/kernels.ts";
import { copyBytes } from "../memory/copy-bytes.ts";
import { SegmentWriter } from "../segment/writer.ts";
import type { FromBuilder, ToBuilder } from "./protocol.ts";
import { stepBack } from "./step-back.ts";

stepBack("building");
const port = parentPort!;
let written: { readonly from: SharedArrayBuffer; readonly bytes: number } | undefined;
let writer: { readonly memory: SharedArrayBuffer; readonly writer: SegmentWriter } | undefined;

port.on("message", (message: ToBuilder) => {
  let reply: FromBuilder;
  try {
    reply = message.kind === "write" ? write(message) : copy(message);
  } catch (error) {
    reply = {
      kind: "failed",
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
  port.postMessage(reply);
});

function write(message: Extract<ToBuilder, { kind: "write" }>): FromBuilder {
  const memory = message.memory.buffer;
  if (writer?.memory !== memory)
    writer = { memory, writer: new SegmentWriter(openKernels(message.memory), memory, message.textBytes) };
  const bytes = writer.writer.write(message.documents, message.contentEnd);
  written = { from: memory, bytes };
  return { kind: "written", bytes };
}

function copy(message: Extract<ToBuilder, { kind: "copy" }>): FromBuilder {
  if (written === undefined) throw new Error("nothing was written");
  const to = new Uint8Array(message.to.buffer);
  copyBytes(new Uint8Array(written.from, RESERVED_BYTES, written.bytes), to, message.start);
  return { kind: "copied" };
}
