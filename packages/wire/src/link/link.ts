import type { Socket } from "node:net";
import type { Clock, Timer } from "@keelson/kernel";
import { MalformedFrame, type GoawayCode } from "../errors.ts";
import { decodeFrame, encodeFrame } from "../frame/codec.ts";
import { KIND, type Frame, type GoawayFrame } from "../frame/frame.ts";
import { decodeHello, encodeHello, HELLO_BYTES_MAX, MAGIC, type Hello } from "../frame/hello.ts";
import { FrameSplitter } from "../frame/splitter.ts";
import type { WireLimits } from "../limits.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Outbox } from "./outbox.ts";

/**
 * One socket that speaks frames: greeting, splitting, batching, pings, ending. The same on both sides; it knows nothing of calls.
 * It never throws at its user for what the other side did: it ends, and says why, once.
 */
export interface LinkEvents {
  /** The other side's hello. The link is open when this returns, unless it ended the link. */
  hello(hello: Hello): void;
  /** Never a ping or pong; a goaway may come instead of the hello. `bytes` is the frame's length. */
  frame(frame: Frame, bytes: number): void;
  pong(): void;
  /** Once. Nothing is sent or delivered after it, but the last frames may still be on their way out. */
  closed(reason: Error): void;
  /** What was waiting to be sent has left. */
  drained(): void;
}

type Phase = "greeting" | "open" | "ended";

export class Link {
  readonly #socket: Socket;
  readonly #limits: WireLimits;
  readonly #clock: Clock;
  readonly #events: LinkEvents;
  readonly #outbox: Outbox;
  readonly #splitter = new FrameSplitter(HELLO_BYTES_MAX);
  readonly #heartbeat: Heartbeat;
  readonly #openedAt: number;
  #phase: Phase = "greeting";
  #magicSeen = 0;
  #greeted = false;
  #pingNonce = 0;
  #pausedAt: number | undefined;
  #pausedBytes = 0;
  #linger: Timer | undefined;

  constructor(socket: Socket, limits: WireLimits, clock: Clock, events: LinkEvents) {
    this.#socket = socket;
    this.#limits = limits;
    this.#clock = clock;
    this.#events = events;
    this.#outbox = new Outbox(socket, () => this.#drained());
    this.#openedAt = clock.now();
    this.#heartbeat = new Heartbeat(limits, this.#openedAt);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#received(chunk));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // An attempt at several addresses of one name fails with an error that has a code and no message.
      this.#finish(error.message === "" ? new Error(error.code ?? error.name, { cause: error }) : error);
    });
    socket.on("end", () => this.end(new Error("the other side ended the connection")));
    socket.on("close", () => {
      this.#linger?.cancel();
      this.#finish(new Error("the connection was closed"));
    });
  }

  get isOpen(): boolean {
    return this.#phase === "open";
  }

  get heardAt(): number {
    return this.#heartbeat.heardAt;
  }

  get queuedBytes(): number {
    return this.#outbox.queuedBytes;
  }

  greet(hello: Hello): void {
    this.#greeted = true;
    this.#outbox.push(encodeHello(hello));
  }

  /** An encoded frame. Ignored once the link has ended. */
  send(bytes: Buffer): void {
    if (this.#phase !== "ended") this.#outbox.push(bytes);
  }

  sendFrame(frame: Frame): void {
    this.send(encodeFrame(frame, this.#limits.frameBytesMax));
  }

  ping(): void {
    this.#pingNonce += 1;
    this.#heartbeat.asked(this.#clock.now());
    this.sendFrame({ kind: KIND.ping, nonce: this.#pingNonce });
  }

  /** Stops taking frames from the other side until what waits to be sent has left. */
  pause(): void {
    if (this.#pausedAt !== undefined || this.#phase === "ended") return;
    this.#pausedAt = this.#clock.now();
    this.#pausedBytes = this.queuedBytes;
    this.#socket.pause();
  }

  /** Looks at the time. To be called every `tickMs`. */
  tick(busy: boolean): void {
    const now = this.#clock.now();
    if (this.#phase === "ended") return;
    if (this.#phase === "greeting") {
      const waitedMs = now - this.#openedAt;
      if (waitedMs >= this.#limits.helloTimeoutMs)
        this.destroy(new Error(`no hello within ${waitedMs | 0} ms`));
    } else if (this.#pausedAt !== undefined) this.#checkStalled(now);
    else {
      const verdict = this.#heartbeat.check(now, busy);
      if (verdict === "ask") this.ping();
      if (verdict === "gone")
        this.destroy(new Error(`silent for ${(now - this.heardAt) | 0} ms, and a ping was not answered`));
    }
  }

  /** Says why, hands over what is queued, and ends. */
  refuse(code: GoawayCode, message: string): void {
    if (this.#phase === "ended") return;
    const goaway: GoawayFrame = { kind: KIND.goaway, code, message: message.slice(0, 2_000) };
    if (!this.#greeted) this.#outbox.push(MAGIC);
    this.sendFrame(goaway);
    this.end(new Error(`${code}: ${message}`));
  }

  /** Hands over what is queued, and ends. */
  end(reason: Error): void {
    if (this.#phase === "ended") return;
    this.#outbox.flush();
    this.#socket.end();
    // What still arrives is read and dropped: closing with unread bytes would reset the connection and lose our last frames.
    this.#socket.resume();
    this.#linger = this.#clock.after(this.#limits.lingerMs, () => this.#socket.destroy());
    this.#finish(reason);
  }

  /** Ends at once. */
  destroy(reason: Error): void {
    this.#socket.destroy();
    this.#finish(reason);
  }

  #finish(reason: Error): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    this.#events.closed(reason);
  }

  #received(chunk: Buffer): void {
    if (this.#phase === "ended") return;
    this.#heartbeat.heard(this.#clock.now());
    try {
      let at = 0;
      while (this.#magicSeen < MAGIC.length && at < chunk.length) {
        if (chunk[at] !== MAGIC[this.#magicSeen])
          throw new MalformedFrame("this port speaks keelson frames only");
        this.#magicSeen += 1;
        at += 1;
      }
      this.#splitter.push(at === 0 ? chunk : chunk.subarray(at), this.#read);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.refuse("MALFORMED", error.message);
    }
  }

  readonly #read = (bytes: Buffer, start: number, end: number): void => {
    if (this.#phase === "ended") return;
    if (this.#phase === "greeting" && bytes[start + 1] !== KIND.goaway) {
      this.#splitter.bytesMax = this.#limits.frameBytesMax;
      const hello = decodeHello(bytes, start, end);
      this.#phase = "open";
      this.#events.hello(hello);
      return;
    }
    const frame = decodeFrame(bytes, start, end);
    if (frame === undefined) return;
    if (frame.kind === KIND.ping) this.#answer(frame.nonce);
    else if (frame.kind === KIND.pong) this.#events.pong();
    else this.#events.frame(frame, end - start);
  };

  /** Not while much is queued: those bytes say that we are here, and a peer that only pings must not fill our memory. */
  #answer(nonce: number): void {
    if (this.queuedBytes < this.#limits.sendBufferBytesHigh) this.sendFrame({ kind: KIND.pong, nonce });
  }

  #drained(): void {
    if (this.#pausedAt !== undefined) {
      this.#pausedAt = undefined;
      this.#heartbeat.heard(this.#clock.now());
      this.#socket.resume();
    }
    if (this.#phase === "open") this.#events.drained();
  }

  /** While paused nothing is heard by our own choice, so what counts is whether the other side takes what we send. */
  #checkStalled(now: number): void {
    const queued = this.queuedBytes;
    if (queued < this.#pausedBytes) this.#pausedAt = now;
    this.#pausedBytes = queued;
    const stalledMs = now - (this.#pausedAt ?? now);
    if (stalledMs >= this.#limits.pongWithinMs + this.#limits.pingAfterMs) {
      this.destroy(new Error(`took nothing of ${queued} queued bytes for ${stalledMs | 0} ms`));
    }
  }
}
