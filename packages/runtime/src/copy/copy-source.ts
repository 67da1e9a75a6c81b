import { StoreImage, type Clock, type RangePage, type Timer } from "@keelson/kernel";
import type { StreamHandle, StreamSink } from "@keelson/wire";
import { decodeCopyFrame, type CopyFrame } from "./copy-frames.ts";

/** How long a node may take to send something, its first page included. It says every second whether it follows the store itself. */
const SILENCE_MS = 5_000;
/** How long a copy that is behind what is known may take to catch up before it is believed that the store went back. Only a node that follows the store can know: others are behind because they do not. */
const BEHIND_MS = 5_000;

export interface CopySourcePorts {
  open(sink: StreamSink): StreamHandle;
  /** What comes is older than what is known. */
  behind(revision: number, incarnation: string): boolean;
  adopted(copy: StoreImage): void;
  changed(frame: CopyFrame & { kind: "changes" }): void;
  /** `deaf`: it answers, and does not follow the store. */
  ended(deaf: boolean): void;
}

/** One stream from one node: gathers its listing, waits until it is not behind, then passes changes on. */
export class CopySource implements StreamSink {
  readonly address: string;
  readonly #clock: Clock;
  readonly #deafMs: number;
  readonly #ports: CopySourcePorts;
  #handle: StreamHandle | undefined;
  #pages: RangePage[] = [];
  /** Gathered, but still behind what is known. */
  #next: StoreImage | undefined;
  #adopted = false;
  #follows = false;
  #silence: Timer | undefined;
  #patience: Timer | undefined;
  #deaf: Timer | undefined;
  #over = false;

  constructor(address: string, clock: Clock, deafMs: number, ports: CopySourcePorts) {
    this.address = address;
    this.#clock = clock;
    this.#deafMs = deafMs;
    this.#ports = ports;
  }

  /** Its copy was taken, and the node follows the store. */
  get live(): boolean {
    return this.#adopted && this.#follows && !this.#over;
  }

  open(): void {
    this.#listen();
    try {
      this.#handle = this.#ports.open(this);
    } catch {
      // A full pool, or an address that cannot be read: as if nobody listened there.
      this.#end();
    }
  }

  close(): void {
    this.#over = true;
    this.#silence?.cancel();
    this.#patience?.cancel();
    this.#deaf?.cancel();
    this.#handle?.close();
  }

  item(body: unknown): void {
    this.#listen();
    const frame = decodeCopyFrame(body);
    switch (frame?.kind) {
      case "page":
        this.#pages.push({ ...frame, serverTimeMs: 0 });
        if (!frame.more) this.#listed();
        return;
      case "changes":
        if (this.#adopted) this.#ports.changed(frame);
        else {
          this.#next?.apply(frame.revision, frame.changes);
          this.#adoptUnlessBehind();
        }
        return;
      case "live":
        this.#hears(frame.live);
        return;
      case undefined:
        return;
    }
  }

  end(): void {
    this.#end();
  }

  fail(): void {
    this.#end();
  }

  #hears(live: boolean): void {
    const followed = this.#follows;
    this.#follows = live;
    if (live) {
      this.#deaf?.cancel();
      this.#deaf = undefined;
      if (!followed) this.#awaitCatchingUp();
    } else {
      this.#patience?.cancel();
      this.#deaf ??= this.#clock.after(this.#deafMs, () => this.#end(true));
    }
  }

  #listed(): void {
    this.#adopted = false;
    this.#next = new StoreImage();
    this.#next.relist(this.#pages);
    this.#pages = [];
    if (this.#follows) this.#awaitCatchingUp();
    this.#adoptUnlessBehind();
  }

  #awaitCatchingUp(): void {
    this.#patience?.cancel();
    if (this.#next) this.#patience = this.#clock.after(BEHIND_MS, () => this.#adopt());
  }

  #adoptUnlessBehind(): void {
    const next = this.#next;
    if (next && !this.#ports.behind(next.revision, next.incarnation ?? "")) this.#adopt();
  }

  #adopt(): void {
    const next = this.#next;
    if (!next || this.#over) return;
    this.#patience?.cancel();
    this.#next = undefined;
    this.#adopted = true;
    this.#ports.adopted(next);
  }

  /** Something was heard. */
  #listen(): void {
    this.#silence?.cancel();
    this.#silence = this.#clock.after(SILENCE_MS, () => this.#end());
  }

  #end(deaf = false): void {
    if (this.#over) return;
    this.close();
    this.#ports.ended(deaf);
  }
}
