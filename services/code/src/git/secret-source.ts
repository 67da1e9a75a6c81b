/**
 * Where a secret comes from: an environment variable, a file or a command. It is read when it is needed, kept until it expires or is refused, and then read again. It appears in no log,
 * address or record, nor in what is said when it cannot be read.
 */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { GitError } from "./git-error.ts";
import { endsWithUs, killGroup } from "./git-process.ts";

/** What is kept of a source at most: tokens that rotate are read anew this often. */
const KEEP_MS = 60_000;
const secretLengthMax = 16_384;
const COMMAND_MS = 10_000;

export interface SecretPorts {
  readonly now: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a command may take; 10 s unless told. */
  readonly commandMs?: number;
}

export class SecretSource {
  readonly #from: string;
  readonly #ports: SecretPorts;
  #kept: { readonly password: string; readonly until: number } | undefined;
  /** Under way: whoever asks meanwhile waits for it too. A command is a process, and strangers can have webhooks checked. */
  #reading: Promise<string> | undefined;

  /** `env:NAME`, `file:/path` or `command:program argument …`. */
  constructor(from: string, ports: SecretPorts) {
    this.#from = from;
    this.#ports = ports;
  }

  /** With `fresh`, whatever was kept has been refused. Throws GitError BAD_CREDENTIALS_SOURCE. */
  async read(fresh = false): Promise<string> {
    if (this.#kept && !fresh && this.#ports.now() < this.#kept.until) return this.#kept.password;
    this.#reading ??= this.#readAnew().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAnew(): Promise<string> {
    const { password, expiresAt = Infinity } = await this.#read();
    this.#kept = { password, until: Math.min(this.#ports.now() + KEEP_MS, expiresAt) };
    return password;
  }

  async #read(): Promise<{ password: string; expiresAt?: number }> {
    const [kind, ...rest] = this.#from.split(":");
    const what = rest.join(":");
    let text: string | undefined;
    try {
      if (kind === "env") text = this.#ports.environment[what];
      else if (kind === "file") text = await readFile(what, "utf8");
      else if (kind === "command")
        text = await output(what.split(/\s+/), this.#ports.commandMs ?? COMMAND_MS);
      else throw new Error("write env:NAME, file:/path or command:program");
    } catch (error) {
      throw new GitError(
        "BAD_CREDENTIALS_SOURCE",
        `credentials from ${JSON.stringify(`${kind}:…`)} cannot be read: ${reasonOf(error)}: mend it on the node`,
      );
    }
    const secret = understand(text?.trim() ?? "");
    const wrong = secret ? problemOf(secret.password) : "is JSON that cannot be read";
    if (!secret || wrong !== undefined)
      throw new GitError("BAD_CREDENTIALS_SOURCE", `the source of credentials ${kind}:… ${wrong}: fill it`);
    return secret;
  }
}

/** Undefined when nothing is. Never quotes the secret. */
function problemOf(secret: string): string | undefined {
  if (secret === "" || secret.length > secretLengthMax) return "is empty or too long";
  // Git's helpers talk in lines: what stands after a line break would be another field of the answer.
  // oxlint-disable-next-line no-control-regex -- they are what is refused.
  return /[\u0000-\u001f\u007f]/.test(secret) ? "has line breaks or control characters in it" : undefined;
}

/** A bare secret, or `{"token": …, "expires_at": …}` as token services give them. Undefined when it begins like JSON and is none: the parser's words would quote it. */
function understand(text: string): { password: string; expiresAt?: number } | undefined {
  if (!text.startsWith("{")) return { password: text };
  let parsed: { token?: unknown; expires_at?: unknown };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    return undefined;
  }
  const { token, expires_at: expires } = parsed;
  const expiresAt = typeof expires === "string" ? Date.parse(expires) : NaN;
  const password = typeof token === "string" ? token : "";
  return Number.isFinite(expiresAt) ? { password, expiresAt } : { password };
}

/** What it printed may be the secret: only its exit is told. It ends in time with all that it has started, whatever these make of signals. */
function output([program = "", ...args]: readonly string[], commandMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], detached: true });
    endsWithUs(child);
    let text = "";
    const stop = (why: string): void => {
      reject(new Error(why));
      killGroup(child);
      child.stdout.destroy();
    };
    const timer = setTimeout(() => stop(`the command took longer than ${commandMs} ms`), commandMs);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.length > secretLengthMax) stop(`the command printed more than ${secretLengthMax} characters`);
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(new Error(`the command cannot be run: ${error.code ?? "an error"}`));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(text);
      else reject(new Error(`the command ended with ${code ?? signal ?? "an error"}`));
    });
  });
}

/** The system's own words have the path in them. */
function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
