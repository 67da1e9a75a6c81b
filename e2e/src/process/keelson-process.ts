/**
 * The built `keelson` command as a real process, for tests: what it prints, line by line, and how it ends. Every process that a test starts is in a
 * list, and `stopAll` ends those that are left.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../apps/cli/dist/main.js", import.meta.url));

const running = new Set<KeelsonProcess>();

export class KeelsonProcess {
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  /** The exit code, as a shell would give it: 128 and the number of the signal that ended it. */
  readonly ended: Promise<number>;
  readonly #child: ChildProcess;
  readonly #listeners = new Set<() => void>();

  /** An empty fleet unless the environment says otherwise: a test finds what it puts there, and no demo. */
  constructor(args: readonly string[], environment: Readonly<Record<string, string | undefined>> = {}) {
    if (!existsSync(MAIN))
      throw new Error(`${MAIN} is not there: run npm test, or npx tsc -b tsconfig.build.json, first`);
    const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
    this.#child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH, HOME, TMPDIR, KEELSON_DEMO: "false", ...environment },
    });
    this.#collect(this.#child.stdout, this.stdout);
    this.#collect(this.#child.stderr, this.stderr);
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        running.delete(this);
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
        this.#tell();
      });
    });
    running.add(this);
  }

  /** Waits for a line on stdout, and returns what the pattern found. */
  async says(pattern: RegExp, withinMs = 15_000): Promise<RegExpExecArray> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      for (const line of this.stdout) {
        const match = pattern.exec(line);
        if (match) return match;
      }
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || !running.has(this))
        throw new Error(
          `${leftMs <= 0 ? `after ${withinMs} ms` : "it ended and"} it has not said ${String(pattern)}:\n${this.all}`,
        );
      await this.#next(leftMs);
    }
  }

  /** Waits for its end, and shows what it printed if that is another one than expected. */
  async endsWith(code: number): Promise<void> {
    const found = await this.ended;
    if (found !== code) throw new Error(`it ended with exit code ${found}, not ${code}:\n${this.all}`);
  }

  get running(): boolean {
    return running.has(this);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Everything it printed, for a failing test to show. */
  get all(): string {
    return [...this.stdout, ...this.stderr].join("\n");
  }

  #collect(stream: NodeJS.ReadableStream | null, lines: string[]): void {
    let rest = "";
    stream?.setEncoding("utf8");
    stream?.on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      this.#tell();
    });
    stream?.on("end", () => {
      if (rest !== "") lines.push(rest);
    });
  }

  #next(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#listeners.add(done);
    });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Ends what a test left running. */
export async function stopAll(): Promise<void> {
  const left = [...running];
  for (const each of left) each.signal("SIGKILL");
  await Promise.all(left.map((each) => each.ended));
}
