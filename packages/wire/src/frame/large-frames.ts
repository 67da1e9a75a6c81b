/**
 * Where large frames are packed: memory that is used again once a frame has left. As memory of its own for each they would be garbage by the ten megabytes before it is collected, and what
 * packs small frames would go on in the rest of it. Only frames that somebody says are large come here, and only those that were written are used again.
 */

/** Below this a frame is packed where all others are. */
export const LARGE_FRAME_BYTES = 262_144;
/** Besides the bytes that were counted: the rest of the frame. */
const REST_BYTES = 65_536;
/** Memory comes in multiples of this, so that a frame which is a little larger fits too. What is not written to costs nothing. */
const STEP_BYTES = 1 << 20;
/** Kept for the next frames: an answer is packed while the one before it leaves. */
const SPARES_MAX = 2;

/** Bytes between the start of the memory and of the frame in it are none, so the memory itself tells whose it is. */
const lent = new WeakSet<ArrayBufferLike>();
const spares: Buffer[] = [];

/** Memory for a frame with so many bytes in it. */
export function lendMemory(bytes: number): Buffer {
  const wanted = bytes + REST_BYTES;
  const at = spares.findIndex((each) => each.length >= wanted);
  const [spare] = at < 0 ? [] : spares.splice(at, 1);
  const memory = spare ?? Buffer.allocUnsafeSlow(Math.ceil(wanted / STEP_BYTES) * STEP_BYTES);
  lent.add(memory.buffer);
  return memory;
}

/** The frame has been written, and nobody looks at its bytes any more. Frames that are not large are left alone. */
export function takeBack(frame: Buffer): void {
  if (frame.length < LARGE_FRAME_BYTES || !lent.delete(frame.buffer)) return;
  spares.push(Buffer.from(frame.buffer));
  if (spares.length <= SPARES_MAX) return;
  // The smallest would be of the least use.
  const smallest = spares.reduce((least, each, i) => (each.length < spares[least]!.length ? i : least), 0);
  spares.splice(smallest, 1);
}
