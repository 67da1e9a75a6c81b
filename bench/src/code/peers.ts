/** ripgrep and Debian's codesearch, run as people run them, with the CPU time they took. */
import { execFile, spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Ran {
  readonly cpuMs: number;
}

/** Installs what is missing; needs Debian's package manager and the right to use it. */
export async function ensurePeers(progress: (text: string) => void): Promise<void> {
  const missing: string[] = [];
  for (const [command, name] of [
    ["rg", "ripgrep"],
    ["csearch", "codesearch"],
  ] as const) {
    const found = await run("which", [command]).then(
      () => true,
      () => false,
    );
    if (!found) missing.push(name);
  }
  if (missing.length === 0) return;
  progress(`installing ${missing.join(" and ")}`);
  await run("apt-get", ["-o", "DPkg::Lock::Timeout=500", "install", "-y", ...missing]);
}

/** Runs a command with its output in a file. Exit code 1 means that nothing was found. */
export function timed(
  command: readonly string[],
  output: string,
  terms: { readonly cwd: string; readonly environment?: Readonly<Record<string, string>> },
): Promise<Ran> {
  // The shell's own clock for its children: user and system seconds with three digits, last on the error output.
  const script = 'TIMEFORMAT="%3U %3S"; out="$1"; shift; time "$@" > "$out"';
  const child = spawn("bash", ["-c", script, "bash", output, ...command], {
    cwd: terms.cwd,
    env: { ...process.env, ...terms.environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (data: Buffer) => {
    said = (said + data.toString()).slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const times = /(?<user>\d+\.\d+) (?<system>\d+\.\d+)\s*$/.exec(said)?.groups;
      if (code !== 0 && code !== 1) reject(new Error(`${command[0]} ended with ${code}: ${said}`));
      else resolve({ cpuMs: (Number(times?.["user"]) + Number(times?.["system"])) * 1_000 });
    });
  });
}

export function ripgrep(pattern: string): readonly string[] {
  const flags = [
    "--no-config",
    "-uu",
    "-a",
    "--encoding=none",
    "--no-messages",
    "--no-heading",
    "--color=never",
  ];
  return ["rg", ...flags, "--line-number", "--with-filename", "--null", "--threads=1", "-e", pattern, "."];
}

/** The lines of each file in what ripgrep wrote. */
export async function linesOfRipgrep(output: string): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const lines = createInterface({ input: createReadStream(output, "latin1"), crlfDelay: 0, terminal: false });
  for await (const line of lines) {
    const zero = line.indexOf("\0");
    const colon = line.indexOf(":", zero);
    // readline also breaks at lone carriage returns, which are inside lines here; such a rest has no zero byte or no number.
    const number = Number(line.slice(zero + 1, colon));
    if (zero === -1 || !Number.isInteger(number) || number === 0) continue;
    const path = Buffer.from(line.slice(0, zero), "latin1").toString("utf8").replace(/^\.\//, "");
    const numbers = found.get(path);
    if (numbers === undefined) found.set(path, [number]);
    else numbers.push(number);
  }
  return found;
}
