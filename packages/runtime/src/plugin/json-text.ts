/**
 * JSON that its route has written already, in pieces: for answers and items that are so large that writing them in one go would hold up the event loop. It is sent as it is.
 */
export class JsonText {
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
    this.bytes = pieces.reduce((sum, each) => sum + each.length, 0);
  }
}
