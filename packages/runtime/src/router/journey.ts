import type { TryFailure } from "@keelson/kernel";

/** What a call has been through once its first try brought no answer. Most calls never have one. */
export class Journey {
  /** Times it was sent. */
  tries = 0;
  /** Hints followed since the last pause. */
  redirects = 0;
  pauses = 0;
  /** Why the last try brought no answer, and which life of a node it went to. */
  last: TryFailure | undefined;
  lastSession: string | undefined;
  /** It would be sent again if the budget allowed. */
  starved = false;
  readonly #visited: string[] = [];

  /** The node was asked, in vain. */
  visit(node: string): void {
    this.#visited.push(node);
  }

  /** Whether the node was asked since the last pause. */
  visited(node: string): boolean {
    return this.#visited.includes(node);
  }

  /** After a pause everyone may be asked again. */
  startOver(): void {
    this.#visited.length = 0;
    this.redirects = 0;
    this.pauses++;
  }
}
