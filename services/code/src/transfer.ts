/**
 * Sends a built index from a node that holds it to one that is getting ready, so that a drain and a new replica build nothing. The receiver pulls pieces; the
 * sender keeps the index alive meanwhile. Pieces carry the engine's checksums: what arrives damaged is not loaded.
 */
import { createHash } from "node:crypto";
import type { Clock, Random } from "@keelson/kernel";
import type { FleetAccess } from "@keelson/runtime";
import { CodeError } from "./code-error.ts";
import type { CodeIndex } from "./engine/index.ts";
import type { Head } from "./git/index.ts";

interface TransferBegun {
  readonly transfer: string;
  readonly heads: readonly Head[];
  /** Nodes of before do not say it. */
  readonly submodules?: number;
  readonly contentBytes: number;
  readonly memoryBytes: number;
}

interface TransferPiece {
  readonly pieces: readonly Uint8Array[];
  /** Of the pieces, in order. */
  readonly sha256: string;
  readonly done: boolean;
}

/** Sent in one answer; a frame takes 16 MiB. */
const pieceBytesMax = 4 << 20;
const transfersMax = 8;
const idleMs = 30_000;
const pieceTimeoutMs = 30_000;

/** The sending side. */
export class Transfers {
  readonly #clock: Clock;
  readonly #open = new Map<
    string,
    { readonly pieces: AsyncIterator<Uint8Array>; usedAt: number; busy: boolean }
  >();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(index: CodeIndex, heads: readonly Head[], submodules: number): TransferBegun {
    this.#tidy();
    if (this.#open.size >= transfersMax)
      throw new CodeError("TRANSFER_BUSY", `${transfersMax} indexes are being sent already: try again`);
    const transfer = String(++this.#count);
    const pieces = index.serialize()[Symbol.asyncIterator]();
    this.#open.set(transfer, { pieces, usedAt: this.#clock.now(), busy: false });
    const { contentBytes, memoryBytes } = index.stats;
    return { transfer, heads, submodules, contentBytes, memoryBytes };
  }

  async next(transfer: string): Promise<TransferPiece> {
    const open = this.#open.get(transfer);
    if (!open || open.busy)
      throw new CodeError("TRANSFER_ENDED", "this index is no longer being sent: begin again");
    open.busy = true;
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    let done = false;
    const hash = createHash("sha256");
    try {
      while (bytes < pieceBytesMax && !done) {
        const next = await open.pieces.next();
        if (next.done === true) done = true;
        else {
          // The engine's memory is shared, and may be used again before this has been sent.
          const piece = Uint8Array.from(next.value);
          hash.update(piece);
          pieces.push(piece);
          bytes += piece.length;
        }
      }
    } catch (error) {
      // The index was let go of before its first piece was asked for: its place is for others.
      this.#open.delete(transfer);
      throw error;
    }
    open.busy = false;
    open.usedAt = this.#clock.now();
    if (done) this.#open.delete(transfer);
    return { pieces, sha256: hash.digest("hex"), done };
  }

  stop(): void {
    for (const { pieces } of this.#open.values()) void pieces.return?.();
    this.#open.clear();
  }

  #tidy(): void {
    const now = this.#clock.now();
    for (const [id, open] of this.#open)
      if (!open.busy && now - open.usedAt > idleMs) {
        this.#open.delete(id);
        void open.pieces.return?.();
      }
  }
}

/** How long a node that is sending to others, or is about to have what is wanted, is waited for: to build would take what is scarcer. */
const busyMsMax = 120_000;
const busyPauseMs = 250;
/** How long somebody who might have the index is waited for in one try. */
const askPatienceMs = 100;

export interface ReceivingPorts {
  readonly access: FleetAccess;
  readonly clock: Clock;
  readonly random: Random;
  /** This one. */
  readonly node: string;
  readonly replicas: number;
  /** The node that has a replica of the repository, as the store says. */
  readonly holder: (id: number, replica: number) => string | undefined;
}

/**
 * The receiving side: asks the other nodes that hold a replica of the repository, its own replica's holder first, until it is its turn. Undefined when nobody else holds one. A holder that
 * is still getting its index ready is waited for when it is this very replica that moves here: both would build the same. It is not when it has another replica, because nodes that get ready only
 * so many at once could wait for each other. Rejects with what the last of them said.
 */
export async function beginReceiving(
  ports: ReceivingPorts,
  wanted: { readonly id: number; readonly replica: number },
  signal: AbortSignal,
): Promise<Receiving | undefined> {
  const { clock, random } = ports;
  const deadline = clock.now() + busyMsMax;
  for (;;) {
    let failure: { readonly error: unknown } | undefined;
    let isWorthWaiting = false;
    for (const replica of othersWith(ports, wanted)) {
      try {
        return await begin(ports.access, String(wanted.id), replica);
      } catch (error) {
        const { code } = error as { code?: unknown };
        failure = { error };
        isWorthWaiting ||= code === "TRANSFER_BUSY" || (code === "WARMING" && replica === wanted.replica);
      }
    }
    if (!failure) return undefined;
    if (!isWorthWaiting || clock.now() > deadline) throw failure.error;
    await new Promise<void>((resolve) => void clock.after(busyPauseMs * (0.5 + random()), resolve));
    // A place that nobody uses would be kept from others for a while.
    if (signal.aborted) throw failure.error;
  }
}

/** Replicas that other nodes hold, the wanted one first. */
function othersWith(
  { replicas, holder, node }: ReceivingPorts,
  { id, replica }: { readonly id: number; readonly replica: number },
): number[] {
  const all = [replica, ...Array.from({ length: replicas }, (_, i) => i).filter((i) => i !== replica)];
  return all.filter((each) => ![undefined, node].includes(holder(id, each)));
}

interface Receiving {
  readonly begun: TransferBegun;
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly node: string;
}

async function begin(access: FleetAccess, shard: string, replica: number): Promise<Receiving> {
  const first = await access.call({
    service: "code",
    shard,
    replica,
    method: "send",
    mode: "read",
    body: null,
    timeoutMs: pieceTimeoutMs,
    patienceMs: askPatienceMs,
  });
  const begun = first.body as TransferBegun;
  return { begun, node: first.node, pieces: pull(access, shard, replica, begun.transfer) };
}

async function* pull(
  access: FleetAccess,
  shard: string,
  replica: number,
  transfer: string,
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { body } = await access.call({
      service: "code",
      shard,
      replica,
      method: "piece",
      // A piece that was asked for twice is not the same piece.
      mode: "write",
      body: transfer,
      timeoutMs: pieceTimeoutMs,
      patienceMs: 1_000,
    });
    const { pieces, sha256, done } = body as TransferPiece;
    const hash = createHash("sha256");
    for (const piece of pieces) hash.update(piece);
    if (hash.digest("hex") !== sha256)
      throw new CodeError("CORRUPT_INDEX", "a piece of an index arrived damaged: it is built here instead");
    yield* pieces;
    if (done) return;
  }
}
