/** What a verb says: tables and sentences for people, JSON for programs with `--json`. Verbs of services print with the same one. */
import type { VerbPrinter } from "@keelson/runtime";
import { Progress } from "./progress.ts";
import { table, type Column } from "./table.ts";

export class Printer implements VerbPrinter {
  readonly json: boolean;
  readonly #write: (text: string) => void;
  #progress: Progress | undefined;

  constructor(json: boolean, write: (text: string) => void = (text) => void process.stdout.write(text)) {
    this.json = json;
    this.#write = write;
  }

  /** The same as JSON and in words; only one of the two is worked out. */
  show(value: unknown, words: () => string): void {
    this.#clear();
    this.#write(this.json ? `${JSON.stringify(value, undefined, 2)}\n` : `${words().trimEnd()}\n`);
  }

  table(
    rows: readonly Readonly<Record<string, unknown>>[],
    columns: readonly string[],
    below?: string,
  ): void {
    const shown: Column<Readonly<Record<string, unknown>>>[] = columns.map((name) => ({
      title: name.toUpperCase(),
      text: (row) => text(row[name]),
      right: rows.length > 0 && rows.every((row) => typeof row[name] === "number"),
      flexible: true,
    }));
    const notes = rows
      .filter((row) => below !== undefined && row[below] !== undefined && row[below] !== "")
      .map((row) => `${text(row[columns[0]!])}: ${text(row[below!])}`);
    const words = (): string => [table(shown, rows), ...(notes.length > 0 ? ["", ...notes] : [])].join("\n");
    this.show(rows, () => (rows.length === 0 ? "nothing" : words()));
  }

  record(value: Readonly<Record<string, unknown>>): void {
    const width = Math.max(0, ...Object.keys(value).map((key) => key.length));
    this.show(value, () =>
      Object.entries(value)
        .map(([key, each]) => `${key.padEnd(width)}  ${text(each)}`)
        .join("\n"),
    );
  }

  line(words: string, value: unknown): void {
    this.#clear();
    this.#write(this.json ? `${JSON.stringify(value)}\n` : `${words}\n`);
  }

  progress(words: string, fraction?: number): void {
    this.#progress ??= new Progress();
    this.#progress.show(words, fraction);
  }

  #clear(): void {
    this.#progress?.done();
  }
}

function text(value: unknown): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : JSON.stringify(value);
}
