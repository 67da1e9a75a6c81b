/**
 * Zeros ahead of the end of a segment, already on disk: a sync of bytes that replace them need not commit a new length of the file, takes half the time, and does not
 * wait for what other files of the same file system have in that commit. They are written beside the batches, a piece at a time, once a file has shown that it grows.
 *
 * It only makes things faster. A batch that goes beyond the zeros is appended as if there were none, and whoever reads a file takes zeros for its end.
 */
import { open } from "node:fs/promises";

/** Files that stay shorter get none. */
const BEGIN_BYTES = 64 * 1024;
const PIECE_BYTES_MAX = 2 * 1024 * 1024;

const zeros = Buffer.alloc(PIECE_BYTES_MAX);

export class Runway {
  readonly #path: string;
  readonly #endMax: number;
  /** Up to where bytes of the file are on disk; beyond it a piece may be on its way. */
  #end: number;
  #piece: Promise<void> | undefined;
  #given = false;

  /** `endMax` is where the file will be continued in another. */
  constructor(path: string, end: number, endMax: number) {
    this.#path = path;
    this.#end = end;
    this.#endMax = endMax;
  }

  /** Await this before bytes are written up to `end`: they must not be written at the same time as zeros in the same place. */
  until(end: number): Promise<void> | undefined {
    return end > this.#end ? this.#piece : undefined;
  }

  /** So far the file is filled: sees to it that there is more. */
  filled(to: number): void {
    if (to > this.#end) this.#end = to;
    const size = Math.min(PIECE_BYTES_MAX, to);
    if (this.#piece !== undefined || this.#given || to < BEGIN_BYTES) return;
    if (this.#end - to > size / 2 || this.#end >= this.#endMax) return;
    this.#piece = this.#extend(Math.min(size, this.#endMax - this.#end));
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.#given = true;
    await this.#piece;
  }

  /** Never rejects. What fails here (a full disk, say) fails again where it matters: the writer's own descriptor is told of every failure of this file too. */
  async #extend(bytes: number): Promise<void> {
    try {
      // A descriptor of its own: a failure that this sync is told of must not be kept from the writer's.
      const file = await open(this.#path, "r+");
      try {
        await file.write(zeros, 0, bytes, this.#end);
        await file.datasync();
      } finally {
        await file.close();
      }
      this.#end += bytes;
    } catch {
      this.#given = true;
    }
    this.#piece = undefined;
  }
}
