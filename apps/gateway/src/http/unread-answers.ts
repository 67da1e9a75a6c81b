/**
 * Answers that have been given and not been taken: what a slow reader leaves in this process's memory. Who takes nothing for long is let go; and when all of it together is too much, those who have
 * been at it longest are, because somebody who reads a byte now and then could keep any number of answers here for ever.
 */
import type { ServerResponse } from "node:http";

/** What is less waits in any case, and is not looked at. */
const WORTH_BYTES = 65_536;

export interface UnreadTerms {
  /** Of all readers. */
  readonly bytesMax: number;
  /** How long one may take nothing. */
  readonly stallMs: number;
  /** A reader was let go to make room. */
  readonly dropped: () => void;
}

export class UnreadAnswers {
  readonly #terms: UnreadTerms;
  /** In the order in which they began to wait. */
  readonly #waiting = new Set<ServerResponse>();
  /** Which of them say when they wait no longer. */
  readonly #followed = new WeakSet<ServerResponse>();

  constructor(terms: UnreadTerms) {
    this.#terms = terms;
  }

  get bytes(): number {
    let bytes = 0;
    for (const response of this.#waiting) bytes += response.writableLength;
    return bytes;
  }

  /** An answer that was given whole. */
  given(response: ServerResponse): void {
    if (!this.part(response) || response.destroyed) return;
    // The socket's own time: it knows of every byte that leaves, and is set anew with the connection's next request.
    response.setTimeout(this.#terms.stallMs);
  }

  /** A part of an answer was given, whose giver waits for the reader itself. Says whether any of it waits. */
  part(response: ServerResponse): boolean {
    if (response.destroyed || response.writableFinished || response.writableLength < WORTH_BYTES)
      return false;
    this.#waiting.add(response);
    if (!this.#followed.has(response)) {
      this.#followed.add(response);
      // The reader of a long stream that has taken all so far is none of those who have been at it longest.
      const taken = (): void => void this.#waiting.delete(response);
      response.on("drain", taken).once("finish", taken).once("close", taken);
    }
    this.#makeRoom();
    return true;
  }

  #makeRoom(): void {
    let { bytes } = this;
    for (const response of this.#waiting) {
      if (bytes <= this.#terms.bytesMax) return;
      bytes -= response.writableLength;
      this.#waiting.delete(response);
      response.destroy();
      this.#terms.dropped();
    }
  }
}
