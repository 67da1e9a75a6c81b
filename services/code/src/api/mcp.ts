/**
 * The Model Context Protocol on a pair of streams: lines of JSON-RPC. Its tools (`mcp-tools.ts`) give coding agents search that is bounded, exact and fresh: answers name
 * their commit, counts are of everything, and what was left out is said.
 */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { callTool, type McpApi } from "./mcp-calls.ts";
import { INSTRUCTIONS, TOOLS } from "./mcp-tools.ts";

interface McpPorts {
  readonly api: McpApi;
  readonly signal: AbortSignal;
  readonly input: Readable;
  readonly output: Writable;
}

const PROTOCOLS = ["2025-06-18", "2025-03-26", "2024-11-05"] as const;
const lineLengthMax = 1 << 20;
/** Calls that are answered at once; more wait. */
const callsMax = 8;
const batchMax = 64;

interface Call {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

/** Resolves when the other side closes its end, or the signal says so. Several calls are worked on at once; they are answered in order, because not every client looks at the numbers. */
export async function serveMcp(ports: McpPorts): Promise<void> {
  const lines = createInterface({ input: ports.input, crlfDelay: Infinity });
  ports.signal.addEventListener("abort", () => lines.close(), { once: true });
  const waiting: Promise<void>[] = [];
  let last = Promise.resolve();
  for await (const line of lines) {
    if (line.trim() === "") continue;
    last = Promise.all([respond(line, ports), last]).then(([answer]) => {
      if (answer) ports.output.write(`${JSON.stringify(answer)}\n`);
    });
    if (waiting.push(last) >= callsMax) await waiting.shift();
  }
  await last;
}

type Answer = Readonly<Record<string, unknown>>;

async function respond(line: string, ports: McpPorts): Promise<Answer | readonly Answer[] | undefined> {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return versioned({ id: null, error: { code: -32_700, message: "not JSON" } });
  }
  if (!Array.isArray(said)) return answered(said, line.length, ports);
  if (said.length === 0 || said.length > batchMax)
    return versioned({
      id: null,
      error: { code: -32_600, message: `a batch has 1 to ${batchMax} requests, not ${said.length}` },
    });
  // One after the other: a batch is no way around the bound on calls.
  const answers: Answer[] = [];
  for (const each of said as readonly unknown[]) {
    const answer = await answered(each, line.length, ports);
    if (answer) answers.push(answer);
  }
  return answers.length > 0 ? answers : undefined;
}

async function answered(call: unknown, lineLength: number, ports: McpPorts): Promise<Answer | undefined> {
  const answer = await answerOf(call, lineLength, ports);
  return answer && versioned(answer);
}

function versioned(answer: Answer): Answer {
  return { jsonrpc: "2.0", ...answer };
}

async function answerOf(said: unknown, lineLength: number, ports: McpPorts): Promise<Answer | undefined> {
  const call = said as Call;
  if (!isObject(call) || typeof call.method !== "string")
    return { id: null, error: { code: -32_600, message: "a request is an object with a method" } };
  const { id, method } = call;
  const params = isObject(call.params) ? call.params : {};
  // What has no id is a notification, and gets no answer.
  if (id === undefined) return undefined;
  // By its number: who asked waits for that.
  if (lineLength > lineLengthMax)
    return {
      id,
      error: {
        code: -32_600,
        message: `the request has ${lineLength} characters, and ${lineLengthMax} are allowed: ask for less`,
      },
    };
  switch (method) {
    case "initialize": {
      const wanted = PROTOCOLS.find((each) => each === params["protocolVersion"]);
      return {
        id,
        result: {
          protocolVersion: wanted ?? PROTOCOLS[0],
          capabilities: { tools: {} },
          serverInfo: { name: "keelson-code", title: "Keelson code search", version: "1" },
          instructions: INSTRUCTIONS,
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
    return { content: [{ type: "text", text }] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { content: [{ type: "text", text: message }], isError: true };
  }
}
