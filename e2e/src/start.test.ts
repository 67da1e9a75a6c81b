/**
 * What a person does first: a new clone, nothing in the home folder, `npm start`. The console must be there, and the project's own code searchable, in under 90 s on
 * two cores, install included. On a machine that others use, time by the clock says little, so what is held to is the CPU time of everything that ran: it is what 90 s
 * on two idle cores are made of. The clock is held to as well where the machine is idle.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "keelson-clean-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));

const LIMIT_MS = 90_000;
const CLOCK_TICKS_PER_SECOND = 100;

/** The files of the repository as they are now, those that are not committed yet included, and nothing that is ignored: no modules, no build. */
function cleanCopy(to: string): void {
  const names = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const name of new Set(names.split("\0"))) {
    if (name === "" || !existsSync(join(root, name))) continue;
    mkdirSync(dirname(join(to, name)), { recursive: true });
    cpSync(join(root, name), join(to, name));
  }
}

/** CPU time of all processes of a group, those that ended included. */
function cpuMs(group: number): number {
  let ticks = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    let stat: string;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    } catch {
      // It ended meanwhile; whoever waited for it has its time.
      continue;
    }
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(fields[2]) === group) for (const field of [11, 12, 13, 14]) ticks += Number(fields[field]);
  }
  return (ticks * 1_000) / CLOCK_TICKS_PER_SECOND;
}

test(
  "npm start on a clean copy with an empty home has a console and searchable code within 90 s",
  { timeout: 600_000 },
  async ({ onTestFinished }) => {
    const copy = join(folder, "keelson");
    const home = join(folder, "home");
    mkdirSync(home);
    cleanCopy(copy);
    const idle = loadavg()[0]! < 1;
    const from = performance.now();
    const { PATH = "", TMPDIR = "/tmp", ...others } = process.env;
    const child = spawn("npm", ["start"], {
      cwd: copy,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH, TMPDIR, HOME: home, KEELSON_LISTEN: "127.0.0.1:0", ...network(others) },
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    let output = "";
    const url = new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          const [, found] = /ready in .*: (http:\S+)/.exec(output) ?? [];
          if (found !== undefined) resolve(found);
        });
      void ended.then((code) => reject(new Error(`npm start ended with ${code}:\n${output}`)));
    });
    onTestFinished(async () => {
      if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL");
      await ended;
    });
    const found = await searched(await url, "file:start.test.ts searched");
    const [, console = ""] = /console: (http:\S+)/.exec(output) ?? [];
    const page = await fetch(console);
    const tookMs = performance.now() - from;
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    const script = /src="([^"]+\.js)"/.exec(await page.text())?.[1] ?? "";
    expect((await fetch(new URL(script, console))).status).toBe(200);
    expect(found).toBe("e2e/src/start.test.ts");
    expect(cpuMs(child.pid!)).toBeLessThan(LIMIT_MS);
    expect(idle ? tookMs : 0).toBeLessThan(LIMIT_MS);
  },
);

/** The first file that is found, once the demo's repository is there. */
async function searched(url: string, query: string): Promise<string> {
  for (;;) {
    const answer = await fetch(`${url}/v1/code/search`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ Q: query }),
    });
    const { Result } = (await answer.json()) as { Result?: { Files: { FileName: string }[] | null } };
    const [first] = Result?.Files ?? [];
    if (first !== undefined) return first.FileName;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** How packages are reached from here, if the environment says so: a proxy, a registry, certificates. */
function network(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && /^(?:npm_config_registry|https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name)
        ? [[name, value]]
        : [],
    ),
  );
}
