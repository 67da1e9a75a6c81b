/**
 * One server process: started, waited for until it answers, signalled, stopped and started again in the same place. It dies with the thread that
 * started it, whatever way that ends, and its last output is part of every error.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProgram } from "./debian.ts";

/** A server of a test. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Of the running process; changes with a restart. */
  readonly pid: number;
  /** Where its data is; removed by `stop`. */
  readonly folder: string;
  /** The last of what it printed. */
  readonly output: string;
  /** The program and its arguments, as one would type them. */
  readonly commandLine: string;
  /** Ends the process and removes its folder. */
  stop(): Promise<void>;
  /** Sends a signal; after SIGKILL, waits for the end. The folder stays, for `restart`. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and folder; one that still runs is ended first, in an orderly way. */
  restart(): Promise<void>;
}

interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Only root may choose another user than its own. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly env?: NodeJS.ProcessEnv;
}

export interface ServerPlan {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly command: ServerCommand;
  /** Asks the server itself; false, or a rejection, means not yet. */
  ready(): Promise<boolean>;
  /** What asks the server to end in an orderly way. */
  readonly stopSignal: NodeJS.Signals;
}

const OUTPUT_CHARS_MAX = 16_000;
/** A busy machine with a slow disk starts Postgres in 10 s. */
const READY_WITHIN_MS = 30_000;
const READY_POLL_MS = 20;
const STOP_WITHIN_MS = 5_000;

/** The process ended before it was ready. */
export class ServerStartError extends Error {
  override readonly name = "ServerStartError";
}

/** A folder for a server's data, for the user that it runs as. */
export function serverFolder(name: string, user?: { readonly uid: number; readonly gid: number }): string {
  const folder = mkdtempSync(join(tmpdir(), `keelson-${name}-`));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** `{ port: "1" }` as `["--port", "1"]`. */
export function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

export class ServerProcess implements TestServer {
  readonly #plan: ServerPlan;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #output = "";
  readonly #onExit = (): void => {
    this.#child?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  };

  static async start(plan: ServerPlan): Promise<ServerProcess> {
    const server = new ServerProcess(plan);
    process.on("exit", server.#onExit);
    try {
      await server.#start(false);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  private constructor(plan: ServerPlan) {
    this.#plan = plan;
  }

  get url(): string {
    return this.#plan.url;
  }

  get port(): number {
    return this.#plan.port;
  }

  get folder(): string {
    return this.#plan.folder;
  }

  get output(): string {
    return this.#output;
  }

  get commandLine(): string {
    const { file, args } = this.#plan.command;
    return [file, ...args].join(" ");
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.#plan.name} is not running`);
    return pid;
  }

  async stop(): Promise<void> {
    await this.#end();
    process.off("exit", this.#onExit);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (this.#child?.kill(signal) !== true) throw new Error(`${this.#plan.name} is not running`);
    if (signal === "SIGKILL") await this.#ended;
  }

  async restart(): Promise<void> {
    await this.#end();
    await this.#start(true);
  }

  /** After SIGKILL some servers (Postgres) will not start until the last process of the former life has gone: `again` tries until then. */
  async #start(again: boolean): Promise<void> {
    this.#launch();
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await this.#isReady())) {
      if (performance.now() > deadline)
        throw new ServerStartError(this.#say(`did not answer within ${READY_WITHIN_MS} ms`));
      if (this.#child === undefined) {
        if (!again) throw new ServerStartError(this.#say("ended before it was ready"));
        this.#launch();
      }
      // oxlint-disable-next-line no-await-in-loop -- looking again comes after a wait.
      await sleep(READY_POLL_MS);
    }
  }

  async #isReady(): Promise<boolean> {
    const ready = await this.#plan.ready().catch(() => false);
    return ready && this.#child !== undefined;
  }

  #launch(): void {
    const { command, folder, name } = this.#plan;
    const { file, args } = dyingWithParent(command);
    const child = spawn(file, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], LC_ALL: "C", ...command.env },
      ...command.user,
    });
    this.#child = child;
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        keep(Buffer.from(`(${name} ended: ${how})\n`));
        if (this.#child === child) this.#child = undefined;
        resolve();
      };
      child.once("error", (error) => end(error.message));
      child.once("exit", (code, signal) => end(String(signal ?? code)));
    });
  }

  /** In an orderly way if it can, by force if it must (it may be stopped by SIGSTOP). */
  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.kill(this.#plan.stopSignal);
    child.kill("SIGCONT");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  #say(what: string): string {
    return `${this.#plan.name} on port ${this.port} ${what}; it printed:\n${this.#output}`;
  }
}

/** Has the kernel end the server when the thread that started it ends, which an exit handler cannot do after SIGKILL. */
function dyingWithParent({ file, args }: ServerCommand): { file: string; args: readonly string[] } {
  const setpriv = findProgram("setpriv");
  if (setpriv === undefined) return { file, args };
  return { file: setpriv, args: ["--pdeathsig=KILL", "--", file, ...args] };
}
