/**
 * Runs git as a child process that asks nobody, reads no configuration but ours, runs no hooks and no helpers, and ends when told to. What it prints is
 * bounded; its error output becomes a GitError with nothing secret in it.
 */
import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { isAbsolute } from "node:path";
import type { Readable, Writable } from "node:stream";
import { stepProcessBack } from "../engine/index.ts";
import type { BoundCredential } from "./credentials.ts";
import { GitError, classify } from "./git-error.ts";

interface GitOptions {
  /** The bare repository it works in. */
  readonly folder?: string;
  readonly credential?: BoundCredential | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** For error messages: what it was done for. */
  readonly what: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The working folder. */
  readonly inFolder?: string;
  /** Standard output beyond this is an error; 64 MiB unless told. */
  readonly outputBytesMax?: number;
}

const TIMEOUT_MS = 600_000;
const outputBytesMax = 64 << 20;
const errorBytesMax = 16 << 10;

/** Answers git's question for a password from its own environment, so that no argument and no file ever holds it. */
const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$KEELSON_GIT_USERNAME" "$KEELSON_GIT_PASSWORD"; }; f';

const SAFE = [
  ["protocol.ext.allow", "never"],
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["credential.helper", ""],
  ["fetch.recurseSubmodules", "false"],
  ["gc.auto", "0"],
  ["transfer.fsckObjects", "false"],
  ["safe.directory", "*"],
  ["core.quotePath", "false"],
  ["http.followRedirects", "initial"],
  // A transfer in which nothing comes for a minute has ended, whatever the connection says.
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "60"],
] as const;

export function startGit(
  args: readonly string[],
  options: GitOptions,
): ChildProcessByStdio<Writable, Readable, Readable> {
  const { folder, credential, environment, signal, inFolder } = options;
  // For that server alone: wherever it sends git on to, nobody else is told.
  const settings = credential ? [...SAFE, [`credential.${credential.origin}.helper`, HELPER] as const] : SAFE;
  const configured = Object.fromEntries(
    settings.flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  );
  const { PATH = "", HOME = "", SSH_AUTH_SOCK = "" } = process.env;
  const child = spawn("git", folder === undefined ? args : ["--git-dir", folder, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own: git has others do the talking, and they must end with it.
    detached: true,
    ...(signal ? { signal } : {}),
    killSignal: "SIGKILL",
    ...(inFolder === undefined ? {} : { cwd: inFolder }),
    env: {
      PATH,
      HOME,
      SSH_AUTH_SOCK,
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      // What a repository in a folder says of itself cannot change these, as it could change configuration: git works in it as in its own.
      GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
      GIT_NO_LAZY_FETCH: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_COUNT: String(settings.length),
      GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=20",
      ...configured,
      ...(credential
        ? { KEELSON_GIT_USERNAME: credential.username, KEELSON_GIT_PASSWORD: credential.password }
        : {}),
      ...environment,
    },
  });
  // Behind what answers and what keeps leases: many repositories may come at once, and none of them is in such a hurry.
  stepProcessBack(child.pid, "fetching");
  return child;
}

/** What is told to git for a remote in a folder. Git forgets our settings when it looks into another repository, and would refuse one that somebody else owns: a service account reads what others write. */
export function localUploadPack(url: string): readonly string[] {
  return isAbsolute(url)
    ? ["--upload-pack=git -c 'safe.directory=*' -c core.fsmonitor=false upload-pack"]
    : [];
}

/** Runs it to its end and gives what it printed. */
export function git(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const { what, timeoutMs = TIMEOUT_MS, credential } = options;
  const limit = options.outputBytesMax ?? outputBytesMax;
  return new Promise((resolve, reject) => {
    const { signal, ...unsignalled } = options;
    const child = startGit(args, unsignalled);
    endsWithUs(child);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let errors = "";
    let failure: GitError | undefined;
    const stop = (error: GitError): void => {
      failure ??= error;
      killGroup(child);
      // One that has left the group, as the connection that ssh keeps for later does, may have these open for ever.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const cancel = (): void => stop(new GitError("CANCELLED", `${what}: no longer wanted`));
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const timer = setTimeout(
      () =>
        stop(new GitError("UNREACHABLE", `${what}: git took longer than ${timeoutMs} ms; it is tried again`)),
      timeoutMs,
    );
    child.stdin.on("error", () => undefined);
    child.stdin.end();
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit)
        stop(new GitError("REPOSITORY_TOO_LARGE", `${what}: git answered with more than ${limit} bytes`));
      else chunks.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (errors.length < errorBytesMax) errors += chunk.toString("utf8");
    });
    child.on("error", (error) => {
      failure ??= new GitError("GIT_FAILED", `${what}: git cannot be run (${error.message}): install it`);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      if (code === 0 && !failure) resolve(Buffer.concat(chunks));
      else reject(failure ?? classify(what, withoutSecret(errors, credential)));
    });
  });
}

const running = new Set<ChildProcess>();

function killRunning(): void {
  for (const child of running) killGroup(child);
}

/** A group of its own hears nothing of a terminal's Ctrl-C, nor of our end: it would go on fetching for nobody. */
export function endsWithUs(child: ChildProcess): void {
  if (running.size === 0) process.on("exit", killRunning);
  running.add(child);
  child.once("close", () => {
    running.delete(child);
    if (running.size === 0) process.off("exit", killRunning);
  });
}

/** Whoever it has started ends too: as long as one of them has its output open, it has not ended for us. */
export function killGroup({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // It has ended by itself. Systems other than Linux say EPERM while nobody has asked how it ended.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** A server may repeat what it was sent. */
function withoutSecret(text: string, credential: BoundCredential | undefined): string {
  const clean = text.replaceAll(/\/\/[^@/\s]*@/g, "//");
  if (!credential) return clean;
  // As it stands in the header too.
  const { username, password } = credential;
  const sent = Buffer.from(`${username}:${password}`).toString("base64");
  return clean.replaceAll(sent, "…").replaceAll(password, "…");
}
