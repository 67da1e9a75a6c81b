/** Thrown inside a search to stop it: its time is up, or nobody waits for it any more. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}
