/** `keelson code …` and `keelson code mcp` against a whole fleet of one process, as somebody uses them on the first day. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Scratch } from "@keelson/code/git-fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { eventually } from "./eventually.ts";

const MAIN = fileURLToPath(new URL("../../../apps/cli/dist/main.js", import.meta.url));
const WITHIN_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), "keelson-code-up-"));
const scratch = new Scratch();
let url = "";
let repository = "";

beforeAll(async () => {
  repository = scratch.repository("tools", {
    "src/main.go": "package main\n\nfunc main() {\n\tgreet()\n}\n",
    "README.md": "tools to greet with\n",
  });
  const up = new KeelsonProcess(["up", "--service", "code", "--data", folder, "--listen", "127.0.0.1:0"]);
  url = (await up.says(/ready in .*: (http:\S+)/, 90_000))[1] ?? "";
}, 120_000);

afterAll(async () => {
  await stopAll();
  scratch.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: string[]): Promise<string> {
  const command = new KeelsonProcess(["code", ...args, "--url", url]);
  await command.endsWith(0);
  return command.all;
}

test("repositories are added, listed, searched, looked at and removed", async () => {
  expect(await run("add", repository, "--name", "acme/tools")).toContain("acme/tools");
  await eventually("it is ready", async () => /acme\/tools\s+ready/.test(await run("status")), WITHIN_MS);
  expect(await run("list", "repo:acme")).toMatch(/acme\/tools\s+main\s+2\s/);
  expect(await run("search", "func.main", "lang:go")).toMatch(
    /acme\/tools@[0-9a-f]{12}:src\/main\.go:3: func main\(\) \{\n1 matches in 1 files/,
  );
  expect(await run("search", "--literal", "greet()")).toContain("src/main.go:4:");
  expect(await run("search", "nowhere_at_all")).toContain("0 matches in 0 files");
  const refused = new KeelsonProcess(["code", "search", "a(b", "--url", url]);
  expect(await refused.ended).not.toBe(0);
  expect(refused.all).not.toMatch(/at .*\.js:\d+/);
  // The caret stands below its place.
  expect(refused.all).toContain("\n  a(b\n   ^");
}, 120_000);

test("a coding agent finds its tools, searches, reads lines of a file, and hears of its mistakes", async () => {
  const agent = new Agent(["code", "mcp", "--url", url]);
  try {
    const hello = await agent.ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    expect(hello).toMatchObject({ protocolVersion: "2025-06-18", capabilities: { tools: {} } });
    agent.tell("notifications/initialized");
    const { tools } = (await agent.ask("tools/list")) as { tools: { name: string; inputSchema: unknown }[] };
    expect(tools.map(({ name }) => name)).toEqual(["search_code", "read_file", "list_repositories"]);
    expect(await agent.use("search_code", { pattern: "greet()", file: "main" })).toMatch(
      /^1 matches in 1 files\n\nacme\/tools src\/main\.go \(commit [0-9a-f]{12}\)\n4: \tgreet\(\)/,
    );
    expect(await agent.use("search_code", { pattern: "func\\s+m", regex: true })).toContain("3: func main");
    expect(
      await agent.use("read_file", { repo: "acme/tools", path: "src/main.go", start_line: 3, end_line: 4 }),
    ).toMatch(/lines 3 to 4 of 5\n3: func main\(\) \{\n4: \tgreet\(\)$/);
    expect(await agent.use("list_repositories", {})).toMatch(
      /^1 repositories\nacme\/tools main@[0-9a-f]{12}/,
    );
    expect(await agent.use("read_file", { repo: "acme/tools", path: "none" })).toMatch(/^ERROR .*no file/s);
    expect(await agent.use("search_code", { pattern: "a(b", regex: true })).toMatch(/^ERROR /);
    expect(await agent.use("no_such_tool", {})).toMatch(/^ERROR .*search_code/s);
  } finally {
    await agent.stop();
  }
}, 120_000);

test("what is removed is searched no more", async () => {
  expect(await run("remove", "acme/tools")).toContain("1");
  await eventually("it is gone", async () => !(await run("status")).includes("acme/tools"), WITHIN_MS);
  expect(await run("search", "func main")).toContain("0 matches in 0 files");
  const unknown = new KeelsonProcess(["code", "remove", "acme/tools", "--url", url]);
  expect([await unknown.ended, unknown.all]).toEqual([
    1,
    expect.stringContaining("no repository acme/tools"),
  ]);
}, 120_000);

/** The other end of the protocol: lines of JSON-RPC on the command's input and output. */
class Agent {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Record<string, unknown>) => void>();
  readonly #ended: Promise<unknown>;
  #calls = 0;

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once("close", resolve));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const answer = JSON.parse(line) as Record<string, unknown>;
      if (answer["jsonrpc"] !== "2.0") throw new Error(`no JSON-RPC: ${line}`);
      this.#waiting.get(answer["id"] as number)?.(answer);
    });
  }

  tell(method: string): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", method })}\n`);
  }

  async ask(method: string, params: unknown = {}): Promise<unknown> {
    const id = ++this.#calls;
    const answered = new Promise<Record<string, unknown>>((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const answer = await answered;
    if (answer["error"] !== undefined) throw new Error(JSON.stringify(answer["error"]));
    return answer["result"];
  }

  /** The text that a tool gave; what went wrong begins with ERROR. */
  async use(name: string, args: unknown): Promise<string> {
    const result = (await this.ask("tools/call", { name, arguments: args })) as {
      content: { text: string }[];
      isError?: boolean;
    };
    return `${result.isError === true ? "ERROR " : ""}${result.content[0]?.text ?? ""}`;
  }

  /** An agent that has finished closes its end, and the command ends by itself. */
  async stop(): Promise<void> {
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 20_000);
    await this.#ended;
    clearTimeout(late);
  }
}
