/**
 * A real S3 server for tests: Ceph's RGW, with the monitor and the storage daemon that it needs, all in memory. It is the one S3 server in Debian that
 * enforces `If-None-Match: *` and signatures. Starting takes about ten seconds, so a test run should start one and give each test its own bucket or
 * prefix. `kill` and `restart` are the gateway's; its data stays in the storage daemon.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ask } from "./ask.ts";
import { createBucket } from "./create-bucket.ts";
import { requireProgram } from "./debian.ts";
import { startOnFreePort } from "./retry-port.ts";
import { serverFolder, type TestServer } from "./server-process.ts";

export interface S3TestServer extends TestServer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Further keys of the same user are no use to tests of permissions: this makes another user. */
  createUser(accessKeyId: string, secretAccessKey: string): Promise<void>;
  createBucket(name: string): Promise<void>;
}

const ACCESS_KEY_ID = "keelson-test";
const SECRET_ACCESS_KEY = "keelson-test-secret";
const ADMIN_WITHIN_MS = 30_000;

export async function startCephRgw(): Promise<S3TestServer> {
  const monitor = await startMonitor();
  const started: TestServer[] = [monitor];
  try {
    const storage = await startStorage(monitor.folder);
    started.unshift(storage);
    const gateway = await startGateway(monitor.folder);
    started.unshift(gateway);
    const server = new CephRgw(gateway, [storage, monitor], monitor.folder);
    await server.createUser(ACCESS_KEY_ID, SECRET_ACCESS_KEY);
    return server;
  } catch (error) {
    // The monitor's folder holds the others', so it goes last.
    // oxlint-disable-next-line no-await-in-loop -- one after the other.
    for (const each of started) await each.stop();
    throw error;
  }
}

class CephRgw implements S3TestServer {
  readonly accessKeyId = ACCESS_KEY_ID;
  readonly secretAccessKey = SECRET_ACCESS_KEY;
  readonly #gateway: TestServer;
  readonly #behind: readonly TestServer[];
  readonly #home: string;

  constructor(gateway: TestServer, behind: readonly TestServer[], home: string) {
    this.#gateway = gateway;
    this.#behind = behind;
    this.#home = home;
  }

  get url(): string {
    return this.#gateway.url;
  }

  get port(): number {
    return this.#gateway.port;
  }

  get pid(): number {
    return this.#gateway.pid;
  }

  get folder(): string {
    return this.#home;
  }

  get output(): string {
    return this.#gateway.output;
  }

  get commandLine(): string {
    return this.#gateway.commandLine;
  }

  async stop(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- nothing is stopped before what uses it.
    for (const each of [this.#gateway, ...this.#behind]) await each.stop();
  }

  kill(signal: NodeJS.Signals): Promise<void> {
    return this.#gateway.kill(signal);
  }

  restart(): Promise<void> {
    return this.#gateway.restart();
  }

  async createUser(accessKeyId: string, secretAccessKey: string): Promise<void> {
    const user = `--uid=${accessKeyId} --display-name=${accessKeyId}`.split(" ");
    const keys = ["--access-key", accessKeyId, "--secret-key", secretAccessKey];
    await run(this.#home, "radosgw-admin", ["user", "create", ...user, ...keys]);
  }

  createBucket(name: string): Promise<void> {
    return createBucket(this.url, name, this);
  }
}

async function startMonitor(): Promise<TestServer> {
  const file = requireProgram("ceph", "ceph-mon");
  return startOnFreePort(async (port) => {
    const home = serverFolder("ceph");
    const fsid = randomUUID();
    writeFileSync(join(home, "ceph.conf"), configuration(home, fsid, port));
    await makeKeys(home);
    await run(home, "monmaptool", [
      "--create",
      "--fsid",
      fsid,
      "--addv",
      "a",
      `[v1:127.0.0.1:${port}]`,
      "monmap",
    ]);
    mkdirSync(join(home, "mon"));
    await run(home, "ceph-mon", ["--mkfs", "-i", "a", "--monmap", "monmap", "--keyring", "keyring"]);
    return {
      name: "ceph-mon",
      url: `ceph://127.0.0.1:${port}`,
      port,
      folder: home,
      stopSignal: "SIGTERM",
      command: { file, args: ["-c", join(home, "ceph.conf"), "-f", "-i", "a"] },
      // It greets whoever connects.
      ready: async () => (await ask(port, "")).toString("latin1").startsWith("ceph v"),
    };
  });
}

async function startStorage(home: string): Promise<TestServer> {
  const file = requireProgram("ceph", "ceph-osd");
  const id = randomUUID();
  await run(home, "ceph", ["--connect-timeout", "20", "osd", "new", id]);
  const folder = join(home, "osd");
  mkdirSync(folder);
  await run(home, "ceph-osd", ["--mkfs", "-i", "0", "--osd-uuid", id]);
  return startOnFreePort(() => ({
    name: "ceph-osd",
    // It finds ports by itself, and the gateway waits for it.
    url: "ceph://127.0.0.1",
    port: 0,
    folder,
    stopSignal: "SIGTERM",
    command: { file, args: ["-c", join(home, "ceph.conf"), "-f", "-i", "0"] },
    ready: () => Promise.resolve(true),
  }));
}

async function startGateway(home: string): Promise<TestServer> {
  const file = requireProgram("ceph", "radosgw");
  const folder = join(home, "rgw");
  mkdirSync(folder);
  return startOnFreePort((port) => ({
    name: "radosgw",
    url: `http://127.0.0.1:${port}`,
    port,
    folder,
    stopSignal: "SIGTERM",
    command: {
      file,
      args: [
        "-c",
        join(home, "ceph.conf"),
        "-f",
        "-n",
        "client.rgw",
        "--rgw-frontends",
        // Without tcp_nodelay a request takes 45 ms, with it 5.
        `beast endpoint=127.0.0.1:${port} tcp_nodelay=1`,
      ],
    },
    ready: async () => (await ask(port, "GET / HTTP/1.0\r\n\r\n")).toString().startsWith("HTTP/"),
  }));
}

/** `auth none` would be simpler, but hangs the gateway. */
async function makeKeys(home: string): Promise<void> {
  const everything = "allow *";
  const users: Readonly<Record<string, readonly string[]>> = {
    "mon.": ["mon", everything],
    "client.admin": ["mon", everything, "osd", everything, "mgr", everything],
    "osd.0": ["mon", "allow profile osd", "osd", everything],
    "client.rgw": ["mon", "allow rwx", "osd", "allow rwx"],
  };
  for (const [n, [name, allowed]] of Object.entries(users).entries()) {
    const caps = allowed.flatMap((word, at) => (at % 2 === 0 ? ["--cap", word] : [word]));
    const create = n === 0 ? ["--create-keyring"] : [];
    // oxlint-disable-next-line no-await-in-loop -- they go into one file.
    await run(home, "ceph-authtool", [...create, "keyring", "--gen-key", "-n", name, ...caps]);
  }
}

/** One storage daemon, no copies, everything in memory, and no waiting for more to be decided at once. */
function configuration(home: string, fsid: string, port: number): string {
  const settings = {
    fsid,
    "mon host": `v1:127.0.0.1:${port}`,
    "public addr": "127.0.0.1",
    "cluster addr": "127.0.0.1",
    "auth cluster required": "cephx",
    "auth service required": "cephx",
    "auth client required": "cephx",
    keyring: join(home, "keyring"),
    "run dir": home,
    "admin socket": "",
    "pid file": "",
    "log file": "",
    "log to stderr": "true",
    "mon cluster log file": "",
    "mon data": join(home, "mon"),
    "mon data avail warn": "1",
    "mon data avail crit": "1",
    "mon allow pool size one": "true",
    "paxos propose interval": "0.05",
    "osd data": join(home, "osd"),
    "osd objectstore": "memstore",
    "memstore device bytes": `${4 * 1024 ** 3}`,
    "osd crush chooseleaf type": "0",
    "osd pool default size": "1",
    "osd pool default min size": "1",
    "osd pool default pg num": "8",
    "osd pool default pgp num": "8",
    "osd pool default pg autoscale mode": "off",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `[global]\n${lines.join("\n")}\n`;
}

async function run(home: string, program: string, args: readonly string[]): Promise<void> {
  const config =
    program === "ceph-authtool" || program === "monmaptool" ? [] : ["-c", join(home, "ceph.conf")];
  await promisify(execFile)(requireProgram("ceph", program), [...config, ...args], {
    cwd: home,
    timeout: ADMIN_WITHIN_MS,
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
  });
}
