/** A code-search fleet of real processes: nodes and a gateway of the built command, on a real store, with generated repositories. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KeelsonProcess } from "../process/keelson-process.ts";

export interface CodeProcessesOptions {
  readonly storeUrl: string;
  readonly replicas: number;
  readonly ttlMs: number;
  /** Of each process. */
  readonly memoryMb: number;
  /** What a repository is expected to take before it is known; 1 MB when left out. */
  readonly guessMb?: number;
  /** Threads that search; 1 when left out. */
  readonly workers?: number;
  /** More lines of `[code]`, given the folder of the fleet. */
  readonly settings?: readonly string[] | ((folder: string) => readonly string[]);
}

export interface Answer {
  readonly FileCount: number;
  readonly MatchCount: number;
  readonly Partial: boolean;
  readonly Missing: readonly { readonly Repository: string; readonly Code: string; readonly Why: string }[];
  readonly Limits: readonly { readonly Repository: string; readonly Why: string }[];
  readonly Files: readonly {
    readonly Repository: string;
    readonly FileName: string;
    readonly Version: string;
  }[];
}

export class CodeProcesses {
  readonly folder = mkdtempSync(join(tmpdir(), "keelson-code-"));
  readonly nodes = new Map<string, KeelsonProcess>();
  readonly #options: CodeProcessesOptions;
  #gateway: KeelsonProcess | undefined;
  #url = "";

  constructor(options: CodeProcessesOptions) {
    this.#options = options;
    const { memoryMb, replicas, guessMb = 1, workers = 1, settings = [] } = options;
    const lines = [
      "[code]",
      `memory = "${memoryMb}MB"`,
      `replicas = ${replicas}`,
      `guess = "${guessMb}MB"`,
      `workers = ${workers}`,
      ...(typeof settings === "function" ? settings(this.folder) : settings),
    ];
    writeFileSync(join(this.folder, "code.toml"), `${lines.join("\n")}\n`);
  }

  /** Of the gateway. */
  get url(): string {
    return this.#url;
  }

  get #common(): string[] {
    return [
      "--store",
      this.#options.storeUrl,
      "--service",
      "code",
      "--config",
      join(this.folder, "code.toml"),
    ];
  }

  async start(nodes: number): Promise<void> {
    const names = Array.from({ length: nodes }, (_, i) => `n${i}`);
    const gateway = (this.#gateway = new KeelsonProcess([
      "gateway",
      ...this.#common,
      "--listen",
      "127.0.0.1:0",
    ]));
    await Promise.all(names.map((name) => this.startNode(name)));
    this.#url = (await gateway.says(/(http:\/\/127\.0\.0\.1:\d+)/, 30_000))[1] ?? "";
  }

  async startNode(name: string): Promise<void> {
    const { ttlMs } = this.#options;
    const data = join(this.folder, name);
    mkdirSync(data, { recursive: true });
    const node = new KeelsonProcess([
      "node",
      ...this.#common,
      "--id",
      name,
      "--ttl",
      `${ttlMs}ms`,
      "--data",
      data,
    ]);
    this.nodes.set(name, node);
    await node.says(/member of the fleet/, 60_000);
  }

  /** kill -9. It is no longer one of the nodes. */
  kill(name: string): void {
    this.nodes.get(name)?.signal("SIGKILL");
    this.nodes.delete(name);
  }

  /** Asks a node to leave, and waits until it has. It is no longer one of the nodes. */
  async drain(name: string, withinMs: number): Promise<void> {
    const node = this.nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    node.signal("SIGINT");
    const late = sleep(withinMs, "late", { ref: false });
    if ((await Promise.race([node.ended, late])) === "late")
      throw new Error(`${name} did not leave within ${withinMs} ms:\n${node.all}`);
    await node.endsWith(0);
    this.nodes.delete(name);
  }

  /** Ends all of its processes, whatever they are doing. */
  async stop(): Promise<void> {
    const all = [...this.nodes.values(), ...(this.#gateway ? [this.#gateway] : [])];
    for (const each of all) each.signal("SIGKILL");
    await Promise.all(all.map((each) => each.ended));
    this.nodes.clear();
  }

  /** The bytes that the operating system counts for a node; 0 when it has just ended. */
  rssBytes(name: string): number {
    return this.#memory(name, "VmRSS");
  }

  /** The most that it ever counted. */
  rssBytesMax(name: string): number {
    return this.#memory(name, "VmHWM");
  }

  #memory(name: string, what: "VmRSS" | "VmHWM"): number {
    const file = `/proc/${this.nodes.get(name)?.pid}/status`;
    const status = existsSync(file) ? readFileSync(file, "utf8") : "";
    return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1_024;
  }

  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`${this.#url}${path}`, { signal: AbortSignal.timeout(40_000) });
    return { status: answer.status, text: await answer.text() };
  }

  async post(path: string, body: unknown): Promise<{ readonly status: number; readonly body: unknown }> {
    const answer = await fetch(`${this.#url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(40_000),
    });
    return { status: answer.status, body: await answer.json() };
  }

  /** Throws when the answer is none. */
  async search(query: string, options: Record<string, unknown> = {}): Promise<Answer> {
    const { status, body } = await this.post("/api/search", {
      Q: query,
      Opts: { MaxDocDisplayCount: 5, ...options },
    });
    if (status !== 200) throw new Error(`search answered ${status}: ${JSON.stringify(body).slice(0, 500)}`);
    return (body as { Result: Answer }).Result;
  }

  async add(
    repositories: readonly { readonly url: string; readonly name: string; readonly pinned?: boolean }[],
  ): Promise<void> {
    for (let at = 0; at < repositories.length; at += 100) {
      const { status, body } = await this.post("/v1/code/repositories", {
        repositories: repositories.slice(at, at + 100),
      });
      if (status !== 200) throw new Error(`add answered ${status}: ${JSON.stringify(body).slice(0, 500)}`);
    }
  }

  async status(): Promise<readonly RepositoryLine[]> {
    const { text } = await this.get("/v1/code/repositories");
    return (JSON.parse(text) as { repositories: RepositoryLine[] }).repositories;
  }

  async metric(node: string, name: string): Promise<number> {
    return (await this.metrics(node, [name] as const))[0];
  }

  /** The values of metrics on a node, all of one moment; without labels, summed over all. */
  async metrics<const Names extends readonly string[]>(
    node: string,
    names: Names,
  ): Promise<{ [I in keyof Names]: number }> {
    const { text } = await this.get(`/metrics/nodes/${node}`);
    const lines = text.split("\n");
    const value = (name: string): number =>
      lines
        .filter((line) => line.startsWith(`${name} `) || (!name.includes("{") && line.startsWith(`${name}{`)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
    return names.map(value) as { [I in keyof Names]: number };
  }

  /** A bare repository with some files; every file has `common_needle` once, and one has the repository's own needle. */
  generate(name: string, files: number, lineCount = 40): string {
    const path = join(this.folder, "repositories", `${name}.git`);
    mkdirSync(path, { recursive: true });
    const git = (args: readonly string[], input?: string): void => {
      execFileSync("git", ["--git-dir", path, ...args], { input, stdio: ["pipe", "ignore", "pipe"] });
    };
    git(["init", "--quiet", "--bare", "--initial-branch=main", path]);
    git(["fast-import", "--quiet"], importScript(name, files, lineCount));
    return path;
  }

  /** The next commit of a generated repository: one file more. */
  push(name: string, file: string, content: string): void {
    const path = join(this.folder, "repositories", `${name}.git`);
    const data = Buffer.byteLength(content);
    const script = `commit refs/heads/main\ncommitter t <t@t> 1700000001 +0000\ndata 4\npush\nfrom refs/heads/main^0\nM 100644 inline ${file}\ndata ${data}\n${content}\n`;
    execFileSync("git", ["--git-dir", path, "fast-import", "--quiet"], {
      input: script,
      stdio: ["pipe", "ignore", "pipe"],
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface RepositoryLine {
  readonly id: number;
  readonly name: string;
  readonly state: "active" | "resting";
  readonly pinned: boolean;
  readonly reason: string;
  readonly demanded: boolean;
  readonly replicas: readonly {
    readonly node?: string;
    readonly index?: {
      readonly how: string;
      readonly heads: readonly { readonly commit: string }[];
      readonly problem?: { readonly code: string };
    };
  }[];
}

function importScript(name: string, files: number, lineCount: number): string {
  let script = "";
  const filler = Array.from(
    { length: lineCount },
    (_, i) => `line ${i} of ${name} with some words to fill it`,
  ).join("\n");
  for (let i = 0; i < files; i++) {
    const own = i === 0 ? `own_needle_${name}\n` : "";
    const content = `${own}common_needle ${i}\n${filler}\n`;
    script += `blob\nmark :${i + 1}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
  }
  script += "commit refs/heads/main\nmark :1000000\ncommitter t <t@t> 1700000000 +0000\ndata 5\nfirst\n";
  for (let i = 0; i < files; i++) script += `M 100644 :${i + 1} src/file${i}.txt\n`;
  return `${script}\n`;
}
