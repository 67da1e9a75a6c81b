import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { etcdctl, startEtcd, startPostgres, startRedis, whatToInstall, type TestServer } from "./index.ts";

const started: TestServer[] = [];
const keep = (server: TestServer): TestServer => {
  started.push(server);
  return server;
};

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("etcd keeps its keys over SIGKILL and restart, and stop leaves nothing behind", async () => {
  const etcd = keep(await startEtcd({ electionMs: 100 }));
  await etcdctl(etcd, "put", "a", "1");
  const before = etcd.pid;
  await etcd.kill("SIGKILL");
  expect(isAlive(before)).toBe(false);
  await etcd.restart();
  expect(etcd.pid).not.toBe(before);
  expect(await etcdctl(etcd, "get", "a", "--print-value-only")).toBe("1\n");
  const { pid, folder } = etcd;
  await etcd.stop();
  expect([isAlive(pid), existsSync(folder)]).toEqual([false, false]);
});

test("redis keeps its keys over a restart, and may ask for a password", async () => {
  const redis = keep(await startRedis({ password: "se cret" }));
  const say = async (command: string): Promise<string> =>
    (await ask(redis.port, `AUTH "se cret"\r\n${command}\r\n`)).toString();
  expect((await ask(redis.port, "GET a\r\n")).toString()).toMatch(/^-NOAUTH/);
  expect(await say("SET a 1")).toBe("+OK\r\n+OK\r\n");
  await redis.restart();
  expect(await say("GET a")).toBe("+OK\r\n$1\r\n1\r\n");
  expect(redis.url).toBe(`redis://:se%20cret@127.0.0.1:${redis.port}`);
});

test("postgres starts, and starts again right after SIGKILL", async () => {
  const postgres = keep(await startPostgres());
  const before = postgres.pid;
  await postgres.kill("SIGKILL");
  await postgres.restart();
  expect(postgres.pid).not.toBe(before);
  expect(postgres.output).toContain("database system was not properly shut down");
});

test("a stopped server is ended all the same", async () => {
  const redis = keep(await startRedis());
  const { pid } = redis;
  await redis.kill("SIGSTOP");
  await redis.stop();
  expect(isAlive(pid)).toBe(false);
});

test("a server that cannot start fails with what it printed", async () => {
  await expect(startRedis({ args: ["--no-such-setting", "1"] })).rejects.toThrow(/no-such-setting/);
});

test("a server does not outlive a process that is killed", async () => {
  const index = fileURLToPath(new URL("redis.ts", import.meta.url));
  const program = `import { startRedis } from ${JSON.stringify(index)};
    console.log((await startRedis()).pid); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  expect(isAlive(pid)).toBe(true);
  child.kill("SIGKILL");
  for (let waited = 0; isAlive(pid) && waited < 2_000; waited += 20) await sleep(20);
  expect(isAlive(pid)).toBe(false);
});

test("what is missing is said in one line that can be run", () => {
  expect(whatToInstall(["etcd", "redis"])).toBe(
    "tests need etcd, redis: run `apt-get install --no-install-recommends etcd-server etcd-client openssl redis-server` as root",
  );
});

test("the program that npm test runs says what to install where it may not install it", async () => {
  const install = fileURLToPath(new URL("install.ts", import.meta.url));
  const args = ["--import", "tsx", "--conditions=source", install, "etcd", "nginx", "redis"];
  // Nothing is found without a PATH but what Debian keeps elsewhere, and no package manager either.
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: "" },
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(1);
  expect(said).toMatch(
    /^keelson: tests need etcd, .*redis: run `apt-get install --no-install-recommends etcd-server .*redis-server` as root\n$/,
  );
});
