import type { Epoch, Hint, ManyReply, NodeManyRequest, NodeReply, NodeRequest } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";

/**
 * The kernel's request and reply as bodies of the method `request`: lists told by position, to which only the end is ever added.
 * Epochs travel as `[era, revision]`. What arrives is checked field by field, because it comes from whoever can reach the port.
 *
 * request: [service, shard, replica, method, mode ("read" or "write"), body, timeoutMs, trace?]
 * reply: ["ok", [era, revision], body] · ["not-owner", node?, address?] · ["warming", progress] · ["overloaded", reason]
 *        · ["quarantined", reason] · ["error", code, message]
 * request of many: [service, [shard, replica, shard, replica …], method, mode, body, timeoutMs, trace?]; each item of its stream: [at, reply]
 */
export const REQUEST_METHOD = "request";
/** The same request, answered by a stream: a reply first, then the shard's items. */
export const STREAM_METHOD = "request-stream";

/** One request for many shards, answered by a stream of replies. */
export const MANY_METHOD = "request-many";
/** Shards that one request may name. */
export const MANY_REPLICAS_MAX = 4_096;

const NAME_CHARS_MAX = 256;
const TEXT_CHARS_MAX = 4_096;

export function encodeRequest(request: NodeRequest): unknown[] {
  const { service, shard, replica, method, mode, body, timeoutMs, trace } = request;
  const fields = [service, shard, replica, method, mode, body, timeoutMs];
  if (trace !== undefined) fields.push(trace);
  return fields;
}

/** Throws WireFailure BAD_REQUEST. */
export function decodeRequest(value: unknown): NodeRequest {
  if (!Array.isArray(value)) throw bad("a request must be a list");
  const [service, shard, replica, method, mode, body, timeoutMs, trace] = value as readonly unknown[];
  if (mode !== "read" && mode !== "write") throw bad(`mode must be "read" or "write"`);
  if (!isCount(replica)) throw bad("replica must be a whole number from 0 up");
  if (typeof timeoutMs !== "number" || !(timeoutMs > 0)) throw bad("timeoutMs must be a number above 0");
  const request = {
    service: name(service, "service"),
    shard: name(shard, "shard"),
    replica,
    method: name(method, "method"),
    mode,
    body,
    timeoutMs,
  } as const;
  return typeof trace === "string" ? { ...request, trace: trace.slice(0, TEXT_CHARS_MAX) } : request;
}

export function encodeReply(reply: NodeReply): unknown[] {
  switch (reply.kind) {
    case "ok":
      return [reply.kind, [reply.epoch.era, reply.epoch.revision], reply.body];
    case "not-owner":
      return reply.hint === undefined ? [reply.kind] : [reply.kind, ...encodeHint(reply.hint)];
    case "warming":
      return [reply.kind, reply.progress];
    case "overloaded":
    case "quarantined":
      return [reply.kind, reply.reason];
    case "error":
      return [reply.kind, reply.code, reply.message];
  }
}

/** A reply that cannot be read becomes an error reply: the request was answered, and asking again would not help. */
export function decodeReply(value: unknown): NodeReply {
  const [kind, first, second, third] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  switch (kind) {
    case "ok": {
      const epoch = epochOf(first);
      return epoch === undefined
        ? unreadable("its epoch is not [era, revision]")
        : { kind, epoch, body: second };
    }
    case "not-owner":
      return typeof first === "string" && typeof second === "string"
        ? { kind, hint: { node: first, address: second, ...replicaOf(third) } }
        : { kind };
    case "warming":
      return { kind, progress: typeof first === "number" ? Math.min(1, Math.max(0, first)) : 0 };
    case "overloaded":
    case "quarantined":
      return { kind, reason: typeof first === "string" ? first : "no reason given" };
    case "error":
      if (typeof first !== "string" || typeof second !== "string")
        return unreadable("its code or message is not text");
      return { kind, code: first, message: second };
    default:
      return unreadable(`its kind is ${JSON.stringify(kind)?.slice(0, 100)}`);
  }
}

export function encodeMany(request: NodeManyRequest): unknown[] {
  const { service, replicas, method, mode, body, timeoutMs, trace } = request;
  const fields = [
    service,
    replicas.flatMap(({ shard, replica }) => [shard, replica]),
    method,
    mode,
    body,
    timeoutMs,
  ];
  if (trace !== undefined) fields.push(trace);
  return fields;
}

/** Throws WireFailure BAD_REQUEST. */
export function decodeMany(value: unknown): NodeRequest[] {
  if (!Array.isArray(value)) throw bad("a request must be a list");
  const [service, replicas, ...rest] = value as readonly unknown[];
  if (!Array.isArray(replicas) || replicas.length % 2 !== 0)
    throw bad("replicas must be a list of shards and numbers in turn");
  if (replicas.length > 2 * MANY_REPLICAS_MAX)
    throw bad(`${replicas.length / 2} shards were asked for at once, and ${MANY_REPLICAS_MAX} are possible`);
  const requests: NodeRequest[] = [];
  for (let at = 0; at < replicas.length; at += 2)
    requests.push(decodeRequest([service, replicas[at], replicas[at + 1], ...rest]));
  return requests;
}

/** Undefined when it cannot be read: then it says nothing of any shard. */
export function decodeManyReply(value: unknown): ManyReply | undefined {
  const [at, reply] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  return isCount(at) ? { at, reply: decodeReply(reply) } : undefined;
}

function epochOf(value: unknown): Epoch | undefined {
  if (!Array.isArray(value)) return undefined;
  const [era, revision] = value as readonly unknown[];
  return isCount(era) && isCount(revision) ? { era, revision } : undefined;
}

function unreadable(why: string): NodeReply {
  return { kind: "error", code: "BAD_REPLY", message: `the node's reply cannot be read: ${why}` };
}

function name(value: unknown, field: string): string {
  if (typeof value === "string" && value.length > 0 && value.length <= NAME_CHARS_MAX) return value;
  throw bad(`${field} must be text of 1 to ${NAME_CHARS_MAX} characters`);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function bad(message: string): WireFailure {
  return new WireFailure("BAD_REQUEST", message);
}

/** The replica is said only when it is another than the one that was asked for. */
function encodeHint({ node, address, replica }: Hint): unknown[] {
  return replica === undefined ? [node, address] : [node, address, replica];
}

function replicaOf(value: unknown): { replica?: number } {
  return Number.isInteger(value) && (value as number) >= 0 ? { replica: value as number } : {};
}
