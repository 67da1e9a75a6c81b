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
      if (answer) ports.output.write(`${JSON.stringify({ jsonrpc: "2.0", ...answer })}\n`);
    });
    if (waiting.push(last) >= callsMax) await waiting.shift();
  }
  await last;
}

async function respond(line: string, ports: McpPorts): Promise<Record<string, unknown> | undefined> {
  let call: Call;
  try {
    call = JSON.parse(line) as Call;
  } catch {
    return { id: null, error: { code: -32_700, message: "not JSON" } };
  }
  if (!isObject(call) || typeof call.method !== "string")
    return { id: null, error: { code: -32_600, message: "a request is an object with a method" } };
  const { id, method } = call;
  const params = isObject(call.params) ? call.params : {};
  // What has no id is a notification, and gets no answer.
  if (id === undefined) return undefined;
  // By its number: who asked waits for that.
  if (line.length > lineLengthMax)
    return {
      id,
      error: {
        code: -32_600,
        message: `the request has ${line.length} characters, and ${lineLengthMax} are allowed: ask for less`,
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
