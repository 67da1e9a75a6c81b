/**
 * The Model Context Protocol on a pair of streams: lines of JSON-RPC. Three tools give coding agents search that is bounded, exact and fresh: answers name
 * their commit, counts are of everything, and what was left out is said.
 */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { escapeRegex } from "../query/index.ts";
import { oneLine } from "./one-line.ts";

interface McpPorts {
  readonly api: (route: string, input?: { query?: unknown; body?: unknown }) => Promise<unknown>;
  readonly signal: AbortSignal;
  readonly input: Readable;
  readonly output: Writable;
}

const PROTOCOLS = ["2025-06-18", "2025-03-26", "2024-11-05"] as const;
const lineBytesMax = 1 << 20;
/** What one answer has at most: more than that helps no agent. */
const answerCharactersMax = 24_000;
const resultsMax = 200;

const TOOLS = [
  {
    name: "search_code",
    description:
      "Search all indexed repositories. The pattern is literal text unless regex is true (RE2 syntax). Counts are exact; every result names its commit; the answer says if it is partial and why.",
    inputSchema: {
      type: "object",
      required: ["pattern"],
      properties: {
        pattern: { type: "string", description: "what to look for" },
        regex: { type: "boolean", description: "the pattern is a regular expression" },
        case_sensitive: { type: "boolean" },
        repo: { type: "string", description: "only repositories whose name contains this" },
        file: { type: "string", description: "only files whose path contains this" },
        lang: { type: "string", description: "only files of this language" },
        symbol: { type: "boolean", description: "only names of symbols" },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: resultsMax,
          description: "matches to show, 30 if left out",
        },
        context: { type: "integer", minimum: 0, maximum: 10, description: "lines around each match" },
      },
    },
  },
  {
    name: "read_file",
    description: "Read a file of an indexed repository, or some lines of it, at the commit that is searched.",
    inputSchema: {
      type: "object",
      required: ["repo", "path"],
      properties: {
        repo: { type: "string", description: "the repository's whole name" },
        path: { type: "string" },
        branch: { type: "string" },
        start_line: { type: "integer", minimum: 1 },
        end_line: { type: "integer", minimum: 1 },
      },
    },
  },
  {
    name: "list_repositories",
    description: "List the repositories that can be searched, with their commits.",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string", description: "part of the name" } },
    },
  },
] as const;

interface Call {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

/** Resolves when the other side closes its end, or the signal says so. */
export async function serveMcp(ports: McpPorts): Promise<void> {
  const lines = createInterface({ input: ports.input, crlfDelay: Infinity });
  ports.signal.addEventListener("abort", () => lines.close(), { once: true });
  for await (const line of lines) {
    if (line.trim() === "") continue;
    const answer = await respond(line, ports);
    if (answer) ports.output.write(`${JSON.stringify({ jsonrpc: "2.0", ...answer })}\n`);
  }
}

async function respond(line: string, ports: McpPorts): Promise<Record<string, unknown> | undefined> {
  let call: Call;
  try {
    if (line.length > lineBytesMax) throw new Error("too long");
    call = JSON.parse(line) as Call;
  } catch {
    return {
      id: null,
      error: { code: -32_700, message: `not JSON, or longer than ${lineBytesMax} characters` },
    };
  }
  if (!isObject(call) || typeof call.method !== "string")
    return { id: null, error: { code: -32_600, message: "a request is an object with a method" } };
  const { id, method } = call;
  const params = isObject(call.params) ? call.params : {};
  // What has no id is a notification, and gets no answer.
  if (id === undefined) return undefined;
  switch (method) {
    case "initialize": {
      const wanted = PROTOCOLS.find((each) => each === params["protocolVersion"]);
      return {
        id,
        result: {
          protocolVersion: wanted ?? PROTOCOLS[0],
          capabilities: { tools: {} },
          serverInfo: { name: "keelson-code", version: "1" },
        },
      };
    }
    case "ping":
      return { id, result: {} };
    case "tools/list":
      return { id, result: { tools: TOOLS } };
    case "tools/call":
      return { id, result: await toolResult(params, ports) };
    default:
      return { id, error: { code: -32_601, message: `unknown method ${method.slice(0, 80)}` } };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function toolResult(params: Record<string, unknown>, { api }: McpPorts): Promise<unknown> {
  const args = isObject(params["arguments"]) ? params["arguments"] : {};
  try {
    const text = await callTool(String(params["name"]), args, api);
    return { content: [{ type: "text", text: bounded(text) }] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { content: [{ type: "text", text: message }], isError: true };
  }
}

function callTool(name: string, args: Record<string, unknown>, api: McpPorts["api"]): Promise<string> {
  switch (name) {
    case "search_code":
      return searchCode(args, api);
    case "read_file":
      return readFile(args, api);
    case "list_repositories":
      return listRepositories(args, api);
    default:
      throw new Error(`there is no tool ${name}: use search_code, read_file or list_repositories`);
  }
}

interface ZoektAnswer {
  readonly Result: {
    readonly MatchCount: number;
    readonly FileCount: number;
    readonly Files: readonly {
      readonly Repository: string;
      readonly FileName: string;
      readonly Version: string;
      readonly LineMatches: readonly {
        LineNumber: number;
        Line: string;
        Before: string | null;
        After: string | null;
        FileName: boolean;
      }[];
    }[];
    readonly Missing: readonly { Repository: string; Why: string }[];
    readonly Limits: readonly { Repository: string; Why: string }[];
  };
}

async function searchCode(args: Record<string, unknown>, api: McpPorts["api"]): Promise<string> {
  const { pattern, regex, repo, file, lang, symbol, case_sensitive: sensitive, context } = args;
  if (typeof pattern !== "string" || pattern === "")
    throw new Error("pattern is missing: say what to look for");
  const text = quoted(regex === true ? pattern : escapeRegex(pattern));
  const query = [
    symbol === true ? `sym:${text}` : text,
    ...(typeof repo === "string" ? [`repo:${quoted(escapeRegex(repo))}`] : []),
    ...(typeof file === "string" ? [`file:${quoted(escapeRegex(file))}`] : []),
    ...(typeof lang === "string" ? [`lang:${quoted(lang)}`] : []),
    ...(typeof sensitive === "boolean" ? [`case:${sensitive ? "yes" : "no"}`] : []),
  ].join(" ");
  const shown = Math.min(resultsMax, Math.max(1, Number(args["max_results"] ?? 30) || 30));
  const { Result } = (await api("search", {
    body: {
      Q: query,
      Opts: {
        MaxDocDisplayCount: shown,
        MaxMatchDisplayCount: shown,
        NumContextLines: Math.min(10, Number(context ?? 0) || 0),
      },
    },
  })) as ZoektAnswer;
  const lines = [`${Result.MatchCount} matches in ${Result.FileCount} files`];
  for (const each of Result.Files) {
    const place = `${each.Repository} ${oneLine(each.FileName)} (commit ${each.Version.slice(0, 12)})`;
    lines.push("", place);
    // The best come first in an answer; a file is read from the top.
    for (const match of each.LineMatches.toSorted((a, b) => a.LineNumber - b.LineNumber))
      if (!match.FileName) lines.push(...shownMatch(match));
  }
  if (Result.Files.length < Result.FileCount)
    lines.push(
      "",
      `Of ${Result.FileCount} files the best ${Result.Files.length} are shown: ask for more with max_results`,
    );
  for (const { Repository, Why } of Result.Missing)
    lines.push("", `PARTIAL: ${Repository} did not answer: ${Why}`);
  for (const { Repository, Why } of Result.Limits) lines.push("", `PARTIAL: ${Repository}: ${Why}`);
  return lines.join("\n");
}

function shownMatch(match: ZoektAnswer["Result"]["Files"][number]["LineMatches"][number]): string[] {
  const decode = (text: string | null): string[] =>
    text ? linesOf(Buffer.from(text, "base64").toString("utf8")) : [];
  const before = decode(match.Before);
  const first = match.LineNumber - before.length;
  // A match may go on over several lines; what is empty is a line too.
  const found = match.Line === "" ? [""] : decode(match.Line);
  const last = match.LineNumber + found.length - 1;
  return [...before, ...found, ...decode(match.After)].map((line, i) => {
    const number = first + i;
    const isFound = number >= match.LineNumber && number <= last;
    return `${number}${isFound ? ":" : "-"} ${line.slice(0, 500)}`;
  });
}

async function readFile(args: Record<string, unknown>, api: McpPorts["api"]): Promise<string> {
  const { repo, path, branch, start_line: from = 1, end_line: to } = args;
  if (typeof repo !== "string" || typeof path !== "string") throw new Error("repo and path are needed");
  const query = { r: repo, f: path, ...(typeof branch === "string" ? { b: branch } : {}) };
  const file = (await api("print", { query })) as { Version: string; Content: string; Skipped?: string };
  const place = `${repo} ${oneLine(path)} (commit ${file.Version.slice(0, 12)})`;
  if (file.Skipped) return `${place} has no text here: ${file.Skipped}`;
  const lines = linesOf(Buffer.from(file.Content, "base64").toString("utf8"));
  const first = Math.max(1, Number(from) || 1);
  const last = Math.min(lines.length, Number(to ?? lines.length) || lines.length);
  if (first > last)
    return `${place} has ${lines.length} lines, and none from ${first} to ${Number(to) || last}`;
  const shown = lines.slice(first - 1, last).map((line, i) => `${first + i}: ${line}`);
  return [`${place}, lines ${first} to ${last} of ${lines.length}`, ...shown].join("\n");
}

/** What follows the last line break is a line when there is something. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

async function listRepositories({ name }: Record<string, unknown>, api: McpPorts["api"]): Promise<string> {
  const Q = typeof name === "string" && name !== "" ? `repo:${quoted(escapeRegex(name))}` : "";
  const { List } = (await api("list", { body: { Q } })) as {
    List: {
      Repos: {
        Repository: { Name: string; Branches: { Name: string; Version: string }[] | null };
        Problem: string;
      }[];
    };
  };
  const lines = List.Repos.map(({ Repository: { Name, Branches }, Problem }) => {
    const at = (Branches ?? [])
      .map(({ Name: branch, Version }) => `${branch}@${Version.slice(0, 12)}`)
      .join(" ");
    return `${Name} ${at}${Problem === "" ? "" : ` (${Problem})`}`;
  });
  return [`${lines.length} repositories`, ...lines].join("\n");
}

/** As one word of the query language, whatever it contains. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function bounded(text: string): string {
  if (text.length <= answerCharactersMax) return text;
  return `${text.slice(0, answerCharactersMax)}\n… cut at ${answerCharactersMax} characters: ask for less, or for certain lines`;
}
