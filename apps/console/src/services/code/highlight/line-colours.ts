/**
 * The colours of a file's lines, worked out as they are needed. A line depends on all before it, because a comment may be open; near lines are done at once, a jump
 * far down is coloured as if nothing were open until the lines between have been read, in small slices that leave the page its time.
 */
import type { Grammar } from "./grammar.ts";
import { tokenize, type Token } from "./tokens.ts";

/** Lines that may be read at once: about a millisecond of work. */
const AHEAD_LINES = 400;
const SLICE_LINES = 400;

export class LineColours {
  readonly #lines: readonly string[];
  readonly #grammar: Grammar;
  readonly #onProgress: () => void;
  /** The state before each line that is known. */
  readonly #states: number[] = [0];
  #wanted = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onProgress` is told when lines that were guessed are known. */
  constructor(lines: readonly string[], grammar: Grammar, onProgress: () => void) {
    this.#lines = lines;
    this.#grammar = grammar;
    this.#onProgress = onProgress;
  }

  /** From 0. */
  tokens(index: number): readonly Token[] {
    if (index >= this.#states.length && index < this.#states.length + AHEAD_LINES) this.#readTo(index);
    const state = this.#states[index];
    if (state === undefined) this.#readLater(index);
    return tokenize(this.#lines[index] ?? "", this.#grammar, state ?? 0).tokens;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #readTo(index: number): void {
    for (let at = this.#states.length - 1; at < index; at++)
      this.#states.push(tokenize(this.#lines[at] ?? "", this.#grammar, this.#states[at] ?? 0).state);
  }

  #readLater(index: number): void {
    this.#wanted = Math.max(this.#wanted, index);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#readTo(Math.min(this.#wanted, this.#states.length - 1 + SLICE_LINES));
      if (this.#states.length <= this.#wanted) this.#readLater(this.#wanted);
      else this.#onProgress();
    });
  }
}
