/**
 * A program of the benches in a process of its own. It gets its options as JSON and says over IPC what happened. The kernel ends it when the
 * thread that started it ends, so that not even a stopped process outlives a bench that was killed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const SETPRIV = "/usr/bin/setpriv";
const OUTPUT_CHARS_MAX = 8_000;

/** `Said` is what the program says, told apart by `kind`. */
export class Child<Said extends { readonly kind: string }> {
  readonly ended: Promise<Ending>;
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #said: Said[] = [];
  readonly #listeners = new Set<() => void>();
  #ending: Ending | undefined;
  #errors = "";

  /** `program` is its path below this workspace's `dist`, which holds the programs also when the bench itself runs from source. */
  constructor(
    name: string,
    program: string,
    options: unknown,
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#name = name;
    const file = fileURLToPath(new URL(`../../dist/${program}`, import.meta.url));
    if (!existsSync(file))
      throw new Error(`${file} is not there: run npm test, or npx tsc -b tsconfig.build.json, first`);
    const command = [process.execPath, file, JSON.stringify(options)];
    const [first = "", ...rest] = existsSync(SETPRIV)
      ? [SETPRIV, "--pdeathsig=KILL", "--", ...command]
      : command;
    const child = spawn(first, rest, {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, ...environment },
    });
    this.#child = child;
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    });
    child.on("message", (message) => {
      this.#said.push(message as Said);
      this.#tell();
    });
    this.ended = new Promise((resolve) => {
      const end = (ending: Ending): void => {
        this.#ending = ending;
        this.#tell();
        resolve(ending);
      };
      child.once("error", (error) => {
        this.#errors += error.message;
        end({ code: null, signal: null });
      });
      child.once("close", (code, signal) => end({ code, signal }));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#ending === undefined;
  }

  /** What it last printed about errors. */
  get errors(): string {
    return this.#errors;
  }

  /** What it has said of a kind, if it has. */
  told<Kind extends Said["kind"]>(kind: Kind): (Said & { readonly kind: Kind }) | undefined {
    return this.#said.find((said): said is Said & { readonly kind: Kind } => said.kind === kind);
  }

  /** What it said last of a kind. */
  last<Kind extends Said["kind"]>(kind: Kind): (Said & { readonly kind: Kind }) | undefined {
    return this.#said.findLast((said): said is Said & { readonly kind: Kind } => said.kind === kind);
  }

  /** What it will say next of a kind, whatever it said before. */
  next<Kind extends Said["kind"]>(kind: Kind): Promise<Said & { readonly kind: Kind }> {
    const before = this.last(kind);
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const said = this.last(kind);
        if (said === before && this.running) return;
        this.#listeners.delete(look);
        if (said !== undefined && said !== before) resolve(said);
        else reject(new Error(`${this.#name} ended before it said "${kind}" again: ${this.#describeEnd()}`));
      };
      this.#listeners.add(look);
    });
  }

  /** Waits until it has said something of that kind; rejects when it ends without. */
  says<Kind extends Said["kind"]>(kind: Kind): Promise<Said & { readonly kind: Kind }> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const said = this.told(kind);
        if (said === undefined && this.running) return;
        this.#listeners.delete(look);
        if (said !== undefined) resolve(said);
        else reject(new Error(`${this.#name} ended before it said "${kind}": ${this.#describeEnd()}`));
      };
      this.#listeners.add(look);
      look();
    });
  }

  send(message: string): void {
    this.#child.send(message);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it for certain, also when it is stopped. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  #describeEnd(): string {
    const { code = null, signal = null } = this.#ending ?? {};
    const words = this.#said.map((said) => JSON.stringify(said)).join(" ");
    return [`exit ${signal ?? code}`, words, this.#errors].filter((part) => part !== "").join("\n");
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
