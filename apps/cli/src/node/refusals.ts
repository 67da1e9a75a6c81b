/** Tells of connections that were refused, but not of each: whoever can reach a port could otherwise fill a disk with lines. */
import type { Clock } from "@keelson/kernel";

const TELL_EVERY_MS = 1_000;

/** For a server's `onConnectionEnd`. What ended for another reason than a refusal is nobody's business. */
export function tellRefusals(
  clock: Clock,
  tell: (line: string) => void,
): (peer: string, reason: Error) => void {
  let toldAt = -Infinity;
  let untold = 0;
  return (peer, reason) => {
    if (!reason.message.startsWith("UNAUTHORISED")) return;
    if (clock.now() - toldAt < TELL_EVERY_MS) {
      untold += 1;
      return;
    }
    const others = untold === 0 ? "" : ` (and ${untold} more)`;
    tell(`a connection from ${peer.replace(/^\? at /, "")} was refused: ${reason.message}${others}`);
    toldAt = clock.now();
    untold = 0;
  };
}
