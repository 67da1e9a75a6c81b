/**
 * A TCP relay between a client and a server of a test, that can behave like a bad network: bytes vanish, wait, come late, or stop in the middle of a
 * reply. Each direction is switched apart, at run time, for all connections at once. It draws nothing at random: who uses it decides.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";

/** `up` goes from the client to the server, `down` back. */
export type Direction = "up" | "down";

export type Passage =
  | { readonly kind: "pass" }
  /** Bytes vanish, and so does the end of a connection. A connection that lost bytes is cut once they pass again. */
  | { readonly kind: "swallow" }
  /** Bytes wait, as behind a broken link: nothing is lost, and all goes on when they pass again. */
  | { readonly kind: "hold" }
  | { readonly kind: "delay"; readonly delayMs: number }
  /** Lets so many more bytes pass, then cuts all connections and passes again. */
  | { readonly kind: "cut-after"; readonly bytes: number };

const PASS: Passage = { kind: "pass" };

export class TcpProxy {
  readonly #to: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #passage: Record<Direction, Passage> = { up: PASS, down: PASS };
  #bytesLeft = 0;
  #refusing = false;
  #port = 0;
  /** Connections that clients made so far. */
  accepted = 0;

  /** Listens on a free loopback port for connections to `port` of `host`. */
  static async open(port: number, host = "127.0.0.1"): Promise<TcpProxy> {
    const proxy = new TcpProxy({ host, port });
    await proxy.#listen();
    return proxy;
  }

  private constructor(to: { host: string; port: number }) {
    this.#to = to;
    this.#server = createServer((near) => this.#accept(near));
  }

  get port(): number {
    return this.#port;
  }

  get host(): string {
    return "127.0.0.1";
  }

  get connections(): number {
    return this.#links.size;
  }

  /** Switches one direction, or both. */
  set(passage: Passage, direction?: Direction): void {
    const directions: readonly Direction[] = direction === undefined ? ["up", "down"] : [direction];
    for (const each of directions) this.#passage[each] = passage;
    if (passage.kind === "cut-after") this.#bytesLeft = passage.bytes;
    for (const link of this.#links) for (const each of directions) link[each].switched();
  }

  /** Everything passes again. */
  heal(): void {
    this.#refusing = false;
    this.set(PASS);
  }

  /** Connections stay, new ones are accepted, and no byte arrives anywhere. */
  blackHole(): void {
    this.set({ kind: "swallow" });
  }

  /** Ends all connections now, with a reset; new ones are made as before. */
  cut(): void {
    for (const link of this.#links) link.cut();
  }

  /** Ends all connections, and every new one at once, until `heal`. */
  refuse(): void {
    this.#refusing = true;
    this.cut();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut();
    await closed;
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, this.host, resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #accept(near: Socket): void {
    this.accepted += 1;
    if (this.#refusing) {
      near.on("error", () => {});
      near.resetAndDestroy();
      return;
    }
    const passing = (direction: Direction) => () => this.#passage[direction];
    const link: Link = new Link(near, connect(this.#to), passing, {
      spent: (bytes) => this.#spend(bytes),
      closed: () => this.#links.delete(link),
    });
    this.#links.add(link);
  }

  /** How many of these bytes may still pass before the cut. */
  #spend(bytes: number): number {
    const allowed = Math.min(bytes, this.#bytesLeft);
    this.#bytesLeft -= allowed;
    if (allowed < bytes || this.#bytesLeft === 0) {
      // What may pass is written first.
      setImmediate(() => {
        this.cut();
        this.heal();
      });
    }
    return allowed;
  }
}

interface LinkEvents {
  spent(bytes: number): number;
  closed(): void;
}

/** One client's connection and the one made for it. */
class Link {
  readonly up: Pipe;
  readonly down: Pipe;
  readonly #sockets: readonly [Socket, Socket];

  constructor(
    near: Socket,
    far: Socket,
    passing: (direction: Direction) => () => Passage,
    events: LinkEvents,
  ) {
    this.#sockets = [near, far];
    const cut = (): void => this.cut();
    const spent = (bytes: number): number => events.spent(bytes);
    this.up = new Pipe(near, far, passing("up"), spent, cut);
    this.down = new Pipe(far, near, passing("down"), spent, cut);
    for (const socket of this.#sockets)
      socket.on("close", () => {
        if (near.destroyed && far.destroyed) events.closed();
      });
  }

  cut(): void {
    for (const socket of this.#sockets) {
      // Node never closes a socket that is reset while its end is still on the way.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
    this.up.forget();
    this.down.forget();
  }
}

/** One direction of one connection. */
class Pipe {
  readonly #from: Socket;
  readonly #into: Socket;
  readonly #passing: () => Passage;
  readonly #spent: (bytes: number) => number;
  readonly #cut: () => void;
  readonly #late: { readonly chunk: Buffer; readonly dueAt: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #spoiled = false;
  #over = false;

  constructor(
    from: Socket,
    into: Socket,
    passing: () => Passage,
    spent: (bytes: number) => number,
    cut: () => void,
  ) {
    this.#from = from;
    this.#into = into;
    this.#passing = passing;
    this.#spent = spent;
    this.#cut = cut;
    from.setNoDelay(true);
    from.on("data", (chunk: Buffer) => this.#relay(chunk));
    from.on("error", () => {});
    from.on("close", () => {
      this.#over = true;
      this.#end();
    });
    this.switched();
  }

  /** The direction's passage is another one now. */
  switched(): void {
    const { kind } = this.#passing();
    if (kind === "hold") this.#from.pause();
    else this.#from.resume();
    if (kind !== "swallow" && this.#spoiled) this.#cut();
    else if (this.#over) this.#end();
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#late.length = 0;
  }

  #relay(chunk: Buffer): void {
    const passage = this.#passing();
    switch (passage.kind) {
      case "pass":
      case "hold":
        this.#later(chunk, 0);
        break;
      case "swallow":
        this.#spoiled = true;
        break;
      case "delay":
        this.#later(chunk, passage.delayMs);
        break;
      case "cut-after":
        this.#into.write(chunk.subarray(0, this.#spent(chunk.length)));
        break;
    }
  }

  /** Bytes stay in order, also when the delay shrinks while some are on their way. */
  #later(chunk: Buffer, delayMs: number): void {
    if (delayMs === 0 && this.#late.length === 0) this.#into.write(chunk);
    else {
      this.#late.push({ chunk, dueAt: performance.now() + delayMs });
      this.#timer ??= setTimeout(() => this.#deliver(), delayMs);
    }
  }

  #deliver(): void {
    this.#timer = undefined;
    for (let next = this.#late[0]; next !== undefined; next = this.#late[0]) {
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#deliver(), Math.ceil(waitMs));
        return;
      }
      this.#into.write(next.chunk);
      this.#late.shift();
    }
    if (this.#over) this.#end();
  }

  /** The sender is gone, and the receiver is told so after the last byte, unless nothing gets through. */
  #end(): void {
    const { kind } = this.#passing();
    if (kind === "swallow" || kind === "hold" || this.#late.length > 0) return;
    this.#into.end();
  }
}
