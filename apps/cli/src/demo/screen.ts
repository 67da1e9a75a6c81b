/**
 * A terminal that is drawn over and over: its second screen, so that what was on it before comes back; no cursor; no wrapping, so that long lines
 * are cut. Whatever ends the process, the terminal is given back as it was.
 */
import type { WriteStream } from "node:tty";

const ENTER = "\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J";
const LEAVE = "\u001B[?7h\u001B[?25h\u001B[?1049l";
const HOME = "\u001B[H";
const CLEAR_LINE = "\u001B[K";
const CLEAR_REST = "\u001B[J";

export class Screen {
  readonly #terminal: WriteStream;
  readonly #restore: () => void;
  readonly #resized: () => void;
  #open = true;

  /** `resized` is called when there is another size to draw for. */
  constructor(terminal: WriteStream, resized: () => void) {
    this.#terminal = terminal;
    this.#restore = () => this.close();
    this.#resized = () => {
      terminal.write("\u001B[2J");
      resized();
    };
    terminal.write(ENTER);
    terminal.on("resize", this.#resized);
    process.on("exit", this.#restore);
  }

  get columns(): number {
    return this.#terminal.columns || 80;
  }

  get rows(): number {
    return this.#terminal.rows || 24;
  }

  show(lines: readonly string[]): void {
    if (!this.#open) return;
    const visible = lines.slice(0, this.rows);
    this.#terminal.write(HOME + visible.map((line) => line + CLEAR_LINE).join("\r\n") + CLEAR_REST);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#terminal.off("resize", this.#resized);
    process.off("exit", this.#restore);
    this.#terminal.write(LEAVE);
  }
}
