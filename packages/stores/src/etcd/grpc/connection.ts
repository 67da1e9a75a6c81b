/**
 * gRPC over one HTTP/2 connection: calls with deadlines, and streams. It never retries and never reconnects. A connection that stays silent past a
 * call's deadline is left: whoever asks next makes a new one, and other calls under way keep their chance of a reply. It knows nothing of etcd.
 */
import type { Clock } from "@keelson/kernel";
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { followCall, type StreamSink } from "./call.ts";
import { frame } from "./frame.ts";
import { GRPC, GrpcError, notSent } from "./status.ts";
import { targetName, targetOrigin, type Target } from "./target.ts";

/** The default of 64 KiB would make a listing wait for the other side several times a megabyte. */
const WINDOW_BYTES = 8 * 1024 * 1024;

/** Deadlines are told to the server rounded up, so that few different ones are sent and compress well. */
const TIMEOUT_STEP_MS = 100;

export type Metadata = Readonly<Record<string, string>>;

export interface GrpcStream {
  /** Several go out together. */
  send(...messages: readonly Buffer[]): void;
  cancel(): void;
}

export class GrpcConnection {
  readonly #session: ClientHttp2Session;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #closed: (reason: string) => void;
  #reason: string | undefined;
  /** Calls that wait for their reply, and streams that have not ended. */
  readonly #unary = new Set<ClientHttp2Stream>();
  readonly #streams = new Set<ClientHttp2Stream>();
  /** Rises with everything the server says on any stream. */
  #heard = 0;
  #heardAt: number;

  /** `closed` is called once, when the connection has ended for whatever reason. */
  static open(
    target: Target,
    clock: Clock,
    timeoutMs: number,
    closed: (reason: string) => void,
  ): Promise<GrpcConnection> {
    const name = targetName(target);
    return new Promise((resolve, reject) => {
      const session = connect(targetOrigin(target), {
        ...target.tls,
        settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      });
      const fail = (reason: string, cause?: unknown): void => {
        timer.cancel();
        session.destroy();
        reject(notSent(`${name}: ${reason}`, cause));
      };
      const failed = (error: Error): void => fail(error.message, error);
      const timer = clock.after(timeoutMs, () => fail(`not connected within ${timeoutMs} ms`));
      session.once("error", failed);
      session.once("connect", (_session, socket) => {
        timer.cancel();
        socket.setNoDelay(true);
        resolve(new GrpcConnection(session, clock, name, closed));
        session.off("error", failed);
      });
    });
  }

  private constructor(
    session: ClientHttp2Session,
    clock: Clock,
    name: string,
    closed: (reason: string) => void,
  ) {
    this.#session = session;
    this.#clock = clock;
    this.#name = name;
    this.#closed = closed;
    this.#heardAt = clock.now();
    session.setLocalWindowSize(WINDOW_BYTES);
    session.on("error", (error: Error) => this.close(error.message));
    session.on("goaway", (code) => this.close(`the server said goodbye (${code})`));
    session.on("close", () => this.close("the server closed the connection"));
  }

  get isClosed(): boolean {
    return this.#reason !== undefined;
  }

  close(reason: string): void {
    this.#session.destroy();
    this.#endAs(reason);
  }

  /** Takes nothing new and ends its streams; calls under way are waited for, each until its deadline. */
  #leave(reason: string): void {
    for (const stream of this.#streams) stream.close(constants.NGHTTP2_CANCEL);
    if (this.#unary.size === 0) this.#session.destroy();
    this.#endAs(reason);
  }

  #endAs(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = `${this.#name}: ${reason}`;
    this.#closed(this.#reason);
  }

  /** One request, one reply. Rejects with a GrpcError, at the latest after `timeoutMs`. */
  unary(path: string, message: Buffer, timeoutMs: number, metadata: Metadata): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const heard = this.#heard;
      let reply: Buffer | undefined;
      const stream = this.#open(
        this.#unary,
        path,
        { ...metadata, "grpc-timeout": timeoutText(timeoutMs) },
        {
          message: (each) => {
            reply = each;
          },
          ended: (error) => {
            timer.cancel();
            if (error !== undefined) reject(error);
            else if (reply !== undefined) resolve(reply);
            else reject(new GrpcError(GRPC.internal, `${this.#name}: a reply without a message`, true));
          },
        },
      );
      const timer = this.#clock.after(timeoutMs, () => {
        const silent = this.#heard === heard;
        reject(new GrpcError(GRPC.deadlineExceeded, `${this.#name}: no reply within ${timeoutMs} ms`, true));
        stream?.close(constants.NGHTTP2_CANCEL);
        if (silent) this.#leave(`nothing heard within ${timeoutMs} ms`);
      });
      stream?.end(frame(message));
    });
  }

  /** A stream of messages both ways. It has no deadline: whoever waits for something on it sets one. */
  stream(path: string, metadata: Metadata, sink: StreamSink): GrpcStream {
    const stream = this.#open(this.#streams, path, metadata, sink);
    return {
      send: (...messages) => {
        if (stream?.writable === true) stream.write(Buffer.concat(messages.map((each) => frame(each))));
      },
      cancel: () => stream?.close(constants.NGHTTP2_CANCEL),
    };
  }

  /** How much was heard so far; unchanged after a while means silence. */
  get heard(): number {
    return this.#heard;
  }

  /** When something was heard last, on the injected clock. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Undefined when the call could not begin; the sink has been, or will be, told. */
  #open(
    among: Set<ClientHttp2Stream>,
    path: string,
    metadata: Metadata,
    sink: StreamSink,
  ): ClientHttp2Stream | undefined {
    let stream: ClientHttp2Stream;
    try {
      if (this.#reason !== undefined) throw notSent(this.#reason);
      stream = this.#session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        ...metadata,
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      queueMicrotask(() =>
        sink.ended(error instanceof GrpcError ? error : notSent(`${this.#name}: ${reason}`, error)),
      );
      return undefined;
    }
    among.add(stream);
    stream.once("close", () => {
      among.delete(stream);
      if (this.#reason !== undefined && this.#unary.size === 0) this.#session.destroy();
    });
    followCall(stream, this.#name, {
      message: (message) => sink.message(message),
      heard: () => {
        this.#heard += 1;
        this.#heardAt = this.#clock.now();
      },
      ended: (error) => sink.ended(error),
    });
    return stream;
  }
}

function timeoutText(timeoutMs: number): string {
  return `${Math.max(1, Math.ceil(timeoutMs / TIMEOUT_STEP_MS)) * TIMEOUT_STEP_MS}m`;
}
