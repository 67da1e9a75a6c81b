/**
 * Symbols from universal-ctags, when it is installed: one process that is given files one after another over its pipes. A file that takes too long, or kills the process,
 * has no symbols; the next one gets a new process.
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "@keelson/kernel";
import type { SymbolSpan } from "../document.ts";
import { stepProcessBack } from "../threads/step-back.ts";
import { Turns } from "../turns.ts";
import { spansOf, type Tag } from "./spans.ts";

/** Reads the symbols of one file after another. */
export interface SymbolReader {
  read(path: string, content: Buffer): Promise<readonly SymbolSpan[]>;
  close(): void;
}

/** Name, line, kind, and what it is part of. All that it knows of a symbol would be four times as much to read. */
const FIELDS = "--fields=NnKsp";
const FILE_TIMEOUT_MS = 5_000;
const START_TIMEOUT_MS = 5_000;
const FILE_BYTES_MAX = 2_097_152;
const TAGS_MAX = 50_000;
const OUTPUT_LINE_BYTES_MAX = 1_048_576;
/** Of one file; what writes more has gone wrong. */
const OUTPUT_CHARACTERS_MAX = 67_108_864;
/** After so many files in a row without an answer it is the program that is broken, and not the files: it is left alone for a while, or a repository would take days. */
const FAILURES_MAX = 8;
const PAUSE_MS = 600_000;

/** Undefined when there is no universal-ctags that speaks JSON. */
export async function openCtags(clock: Clock, command = "ctags"): Promise<SymbolReader | undefined> {
  const first = await Ctags.start(clock, command);
  return first === undefined ? undefined : new CtagsReader(clock, command, first);
}

class CtagsReader implements SymbolReader {
  readonly #clock: Clock;
  readonly #command: string;
  #process: Ctags | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;
  #failures = 0;
  #pausedUntil = -Infinity;

  constructor(clock: Clock, command: string, first: Ctags) {
    this.#clock = clock;
    this.#command = command;
    this.#process = first;
  }

  read(path: string, content: Buffer): Promise<readonly SymbolSpan[]> {
    const answer = this.#turn.then(() => this.#read(path, content));
    this.#turn = answer;
    return answer;
  }

  close(): void {
    this.#closed = true;
    this.#process?.kill();
  }

  async #read(path: string, content: Buffer): Promise<readonly SymbolSpan[]> {
    if (content.length === 0 || content.length > FILE_BYTES_MAX || this.#closed) return [];
    if (this.#clock.now() < this.#pausedUntil) return [];
    this.#process ??= await Ctags.start(this.#clock, this.#command);
    const tags = await this.#process?.tags(path, content);
    if (tags === undefined) {
      this.#process?.kill();
      this.#process = undefined;
      this.#failures += 1;
      if (this.#failures % FAILURES_MAX === 0) this.#pausedUntil = this.#clock.now() + PAUSE_MS;
      return [];
    }
    this.#failures = 0;
    return spansOf(content, tags);
  }
}

/** One process. After a file without an answer it is of no use any more. */
class Ctags {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #clock: Clock;
  #rest = "";
  #ended = false;
  #onLine: (line: string | undefined) => void = () => undefined;

  private constructor(child: ChildProcessWithoutNullStreams, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => this.#take(text));
    const ended = (): void => {
      this.#ended = true;
      this.#onLine(undefined);
    };
    child.stdin.on("error", ended);
    child.on("error", ended);
    child.on("close", ended);
    child.stderr.resume();
  }

  static async start(clock: Clock, command: string): Promise<Ctags | undefined> {
    const child = spawn(command, ["--_interactive=default", "--output-format=json", FIELDS, "--sort=no"], {
      stdio: "pipe",
    });
    stepProcessBack(child.pid, "tagging");
    const ctags = new Ctags(child, clock);
    const ready = await ctags.#until(START_TIMEOUT_MS, (line) => line.includes('"program"'));
    if (ready === undefined) child.kill("SIGKILL");
    return ready === undefined ? undefined : ctags;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async tags(path: string, content: Buffer): Promise<Tag[] | undefined> {
    if (this.#ended) return undefined;
    // The name decides the language; the folders above it say nothing and may be hostile.
    const filename = path.slice(path.lastIndexOf("/") + 1);
    this.#child.stdin.write(
      `${JSON.stringify({ command: "generate-tags", filename, size: content.length })}\n`,
    );
    this.#child.stdin.write(content);
    const lines = await this.#until(FILE_TIMEOUT_MS, (line) => line.includes('"_type": "completed"'));
    if (lines === undefined) return undefined;
    const tags: Tag[] = [];
    const turns = new Turns();
    for (const line of lines.slice(0, TAGS_MAX)) {
      const tag = parseTag(line);
      if (tag !== undefined) tags.push(tag);
      if (turns.due) await turns.give();
    }
    return tags;
  }

  /** The lines before the one that ends them; undefined when it does not come. */
  #until(timeoutMs: number, isEnd: (line: string) => boolean): Promise<string[] | undefined> {
    return new Promise((resolve) => {
      const lines: string[] = [];
      let characters = 0;
      const end = (answer: string[] | undefined): void => {
        timer.cancel();
        this.#onLine = () => undefined;
        resolve(answer);
      };
      const timer = this.#clock.after(timeoutMs, () => end(undefined));
      this.#onLine = (line) => {
        characters += 1 + (line?.length ?? 0);
        if (line === undefined || characters > OUTPUT_CHARACTERS_MAX) end(undefined);
        else if (isEnd(line)) end(lines);
        else lines.push(line);
      };
    });
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#onLine(line);
    if (this.#rest.length > OUTPUT_LINE_BYTES_MAX) this.#onLine(undefined);
  }
}

function parseTag(line: string): Tag | undefined {
  try {
    const tag = JSON.parse(line) as Partial<Record<string, unknown>>;
    const { name, kind, line: number, scope, scopeKind } = tag;
    if (tag["_type"] !== "tag" || typeof name !== "string" || typeof number !== "number") return undefined;
    const text = (value: unknown): string => (typeof value === "string" ? value : "");
    return { name, kind: text(kind), line: number, parent: text(scope), parentKind: text(scopeKind) };
  } catch {
    // A name that is not UTF-8 makes a line that is not JSON; such a symbol cannot be shown anyway.
    return undefined;
  }
}
