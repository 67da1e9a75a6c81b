/** One gRPC stream's way from its first byte to its status. */
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { FrameSplitter } from "./frame.ts";
import { GRPC, GrpcError, statusMessage } from "./status.ts";

const OK = "0";

export interface StreamSink {
  message(message: Buffer): void;
  /** Nothing follows. There is no error when the server ended the stream in an orderly way. */
  ended(error: GrpcError | undefined): void;
}

interface CallSink extends StreamSink {
  /** The server said something. */
  heard(): void;
}

/** Tells the sink of every message and of the end. A message that the sink cannot read (it throws) ends the stream. */
export function followCall(stream: ClientHttp2Stream, name: string, sink: CallSink): void {
  const splitter = new FrameSplitter();
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  let broken: Error | undefined;
  stream.on("response", (each) => {
    sink.heard();
    headers = each;
  });
  stream.on("trailers", (each: IncomingHttpHeaders) => {
    trailers = each;
  });
  stream.on("data", (chunk: Buffer) => {
    sink.heard();
    if (broken !== undefined) return;
    try {
      splitter.push(chunk, (message) => sink.message(message));
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error));
      stream.close(constants.NGHTTP2_CANCEL);
    }
  });
  stream.on("error", (error) => {
    broken ??= error;
  });
  stream.on("close", () => sink.ended(outcome(name, headers, trailers, broken, stream.rstCode)));
}

function outcome(
  name: string,
  headers: IncomingHttpHeaders,
  trailers: IncomingHttpHeaders,
  broken: Error | undefined,
  rstCode: number | undefined,
): GrpcError | undefined {
  const status = trailers["grpc-status"] ?? headers["grpc-status"];
  if (broken === undefined && typeof status === "string") {
    if (status === OK) return undefined;
    const message = trailers["grpc-message"] ?? headers["grpc-message"];
    const text = typeof message === "string" ? statusMessage(message) : `gRPC status ${status}`;
    return new GrpcError(Number(status), text, true);
  }
  const http = headers[":status"];
  if (http !== undefined && String(http) !== "200")
    return new GrpcError(GRPC.unavailable, `${name}: HTTP ${String(http)}, so this is no gRPC server`, true);
  const reason = broken?.message ?? "the stream ended without a status";
  const refused = rstCode === constants.NGHTTP2_REFUSED_STREAM;
  return new GrpcError(
    GRPC.unavailable,
    `${name}: ${reason}`,
    !refused,
    broken === undefined ? {} : { cause: broken },
  );
}
