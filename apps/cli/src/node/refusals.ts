/** Tells of connections that were refused, but not of each: whoever can reach a port could otherwise fill a disk with lines. */
import type { Clock } from "@keelson/kernel";

const TELL_EVERY_MS = 1_000;

/** For a server's `onConnectionEnd`. What ended for another reason than a refusal is nobody's business. */
export function tellRefusals(
  clock: Clock,
  tell: (line: string) => void,
): (peer: string, reason: Error) => void {
  const seldom = tellSeldom(clock, tell);
  return (peer, { message }) => {
    if (message.startsWith("UNAUTHORISED")) seldom(peer.replace(/^\? at /, ""), message);
  };
}

/** The same for those who were refused before they could say anything. */
export function tellSeldom(
  clock: Clock,
  tell: (line: string) => void,
): (peer: string, reason: string) => void {
  let toldAt = -Infinity;
  let untold = 0;
  return (peer, reason) => {
    if (clock.now() - toldAt < TELL_EVERY_MS) {
      untold += 1;
      return;
    }
    const others = untold === 0 ? "" : ` (and ${untold} more)`;
    tell(`a connection from ${peer} was refused: ${reason}${others}`);
    toldAt = clock.now();
    untold = 0;
  };
}
