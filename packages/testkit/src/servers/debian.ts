/**
 * The servers that tests start, and the Debian packages they come from. `ensureServers` installs what is missing when it may, and otherwise
 * says in one line what to install. Nothing here starts a server.
 */
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

export type ServerName =
  | "etcd"
  | "redis"
  | "postgres"
  | "pgbouncer"
  | "faketime"
  | "ceph"
  | "strace"
  | "nginx"
  | "promtool"
  | "systemd"
  | "ctags"
  | "chromium";

interface Source {
  readonly packages: readonly string[];
  /** Programs that the packages bring; the first one is the server. */
  readonly programs: readonly string[];
}

const SOURCES: Readonly<Record<ServerName, Source>> = {
  etcd: { packages: ["etcd-server", "etcd-client", "openssl"], programs: ["etcd", "etcdctl", "openssl"] },
  redis: { packages: ["redis-server"], programs: ["redis-server", "redis-cli"] },
  postgres: { packages: ["postgresql"], programs: ["postgres", "initdb", "pg_basebackup", "pg_ctl", "psql"] },
  /** A pooler before Postgres. */
  pgbouncer: { packages: ["pgbouncer"], programs: ["pgbouncer"] },
  /** No server, but what the fault bench makes clocks leap with. */
  faketime: { packages: ["faketime"], programs: ["faketime"] },
  /** An S3 server: a gateway, and the monitor and storage daemon behind it. */
  ceph: {
    packages: ["radosgw", "ceph-mon", "ceph-osd", "ceph-common"],
    programs: ["radosgw", "ceph-mon", "ceph-osd", "ceph", "ceph-authtool", "monmaptool", "radosgw-admin"],
  },
  /** No server either, but what tests of durability watch system calls with. */
  strace: { packages: ["strace"], programs: ["strace"] },
  /** The plain proxy that the gateway is measured beside. */
  nginx: { packages: ["nginx-light"], programs: ["nginx"] },
  /** Judges alert rules as Prometheus would. */
  promtool: { packages: ["prometheus"], programs: ["promtool"] },
  /** Judges units as the system would; nothing of it is started. */
  systemd: { packages: ["systemd"], programs: ["systemd-analyze"] },
  /** Finds the symbols of code. */
  ctags: { packages: ["universal-ctags"], programs: ["ctags-universal"] },
  /** The browser that looks at the console. Letters need a font. */
  chromium: { packages: ["chromium", "fonts-dejavu-core"], programs: ["chromium"] },
};

export const SERVER_NAMES = Object.keys(SOURCES) as readonly ServerName[];

/** Debian keeps Postgres' programs out of PATH, in a folder per major version. */
const POSTGRES_HOME = "/usr/lib/postgresql";

/** What a package manager prints is long; its last lines say what went wrong. */
const OUTPUT_CHARS_MAX = 4_000;

export class ServersMissingError extends Error {
  override readonly name = "ServersMissingError";
}

/** The full path of a server's program, or undefined when its package is not installed. */
export function findProgram(program: string): string | undefined {
  return programFolders()
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

/** The full path of a server's program; the error says what to install. */
export function requireProgram(server: ServerName, program: string): string {
  const path = findProgram(program);
  if (path === undefined) throw new ServersMissingError(whatToInstall([server]));
  return path;
}

export function missingServers(names: readonly ServerName[]): ServerName[] {
  return names.filter((name) => SOURCES[name].programs.some((program) => findProgram(program) === undefined));
}

/** Brings the servers' packages onto this machine, or throws a ServersMissingError that says what to install. */
export async function ensureServers(
  names: readonly ServerName[],
  progress: (line: string) => void = () => {},
): Promise<void> {
  const missing = missingServers(names);
  if (missing.length === 0) return;
  const apt = findProgram("apt-get");
  if (apt === undefined || process.getuid?.() !== 0) throw new ServersMissingError(whatToInstall(missing));
  const packages = missing.flatMap((name) => SOURCES[name].packages);
  progress(`installing ${packages.join(" ")} (Debian packages of servers that tests start)`);
  const lock = ["-o", "DPkg::Lock::Timeout=500", "-o", "Acquire::Retries=2"];
  const update = await run(apt, [...lock, "update"]);
  const install = await run(apt, [...lock, "install", "-y", "--no-install-recommends", ...packages]);
  const still = missingServers(names);
  if (still.length === 0) return;
  throw new ServersMissingError(
    `${whatToInstall(still)}\napt-get install ended with ${install.code}:\n${install.output}` +
      (update.code === 0 ? "" : `\napt-get update had ended with ${update.code}:\n${update.output}`),
  );
}

export function whatToInstall(names: readonly ServerName[]): string {
  const packages = names.flatMap((name) => SOURCES[name].packages).join(" ");
  return `tests need ${names.join(", ")}: run \`apt-get install --no-install-recommends ${packages}\` as root`;
}

function programFolders(): string[] {
  const versions = existsSync(POSTGRES_HOME)
    ? readdirSync(POSTGRES_HOME).toSorted((a, b) => Number(b) - Number(a))
    : [];
  return [
    ...(process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== ""),
    "/usr/sbin",
    ...versions.map((version) => join(POSTGRES_HOME, version, "bin")),
  ];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function run(file: string, args: readonly string[]): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(file, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => resolve({ code: error.message, output }));
    child.on("close", (code, signal) => resolve({ code: code ?? signal ?? "no code", output }));
  });
}
