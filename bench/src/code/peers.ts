/** ripgrep and Debian's codesearch, run as people run them, with the CPU time they took. */
import { execFile, spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { promisify } from "node:util";
import { eachLine, readNumber } from "./byte-lines.ts";

const run = promisify(execFile);

export interface Ran {
  readonly cpuMs: number;
  /** The end of what it wrote to its error output. */
  readonly said: string;
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

/** Runs a command with its output in a file, one time or several, and says what it took each time. Exit code 1 means that nothing was found. */
export function timed(
  command: readonly string[],
  output: string,
  terms: {
    readonly cwd: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly times?: number;
  },
): Promise<Ran> {
  const { times: rounds = 1 } = terms;
  // The shell's own clock for its children: user and system seconds with three digits, last on the error output. What is below a millisecond it drops, of each of the two.
  const script =
    'TIMEFORMAT="%3U %3S"; n="$1"; out="$2"; shift 2; time for ((i = 0; i < n; i++)); do "$@" > "$out"; done';
  const child = spawn("bash", ["-c", script, "bash", String(rounds), output, ...command], {
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
      else
        resolve({
          cpuMs: ((Number(times?.["user"]) + Number(times?.["system"])) * 1_000) / rounds,
          said,
        });
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

/** Builds the index anew. It leaves out what it takes for no source, such as files with very long lines, and says how many bytes it took. */
export async function cindex(
  corpus: string,
  output: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly cpuMs: number; readonly bytes: number }> {
  const { cpuMs, said } = await timed(["cindex", "-reset", corpus], output, { cwd: corpus, environment });
  const bytes = /(?<bytes>\d+) data bytes/.exec(said)?.groups?.["bytes"];
  if (bytes === undefined) throw new Error(`cindex did not say how much it indexed: ${said}`);
  return { cpuMs, bytes: Number(bytes) };
}

/** The lines of each file in what ripgrep wrote: a path, a zero byte, the number of the line and the line. */
export async function linesOfRipgrep(output: string): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  let path = Buffer.alloc(0);
  let numbers: number[] = [];
  /** The beginning of a path that has a line break in it. */
  let begun = Buffer.alloc(0);
  await eachLine(createReadStream(output, { highWaterMark: 1_048_576 }), (rest) => {
    const line = begun.length === 0 ? rest : Buffer.concat([begun, rest]);
    const zero = line.indexOf(0);
    begun = zero === -1 ? Buffer.concat([line, Buffer.from("\n")]) : Buffer.alloc(0);
    if (zero === -1) return;
    if (zero !== path.length || !path.equals(line.subarray(0, zero))) {
      path = Buffer.from(line.subarray(0, zero));
      const name = path.toString("utf8").replace(/^\.\//, "");
      numbers = found.get(name) ?? [];
      found.set(name, numbers);
    }
    numbers.push(readNumber(line, zero + 1));
  });
  return found;
}
