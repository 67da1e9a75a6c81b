import { Packr, Unpackr, RESERVE_START_SPACE } from "msgpackr";
import { MalformedFrame, WireFailure } from "../errors.ts";
import { KIND, type Frame } from "./frame.ts";
import { LARGE_FRAME_BYTES, lendMemory } from "./large-frames.ts";
import { DEPTH_MAX, scan } from "./scan.ts";

/**
 * Frames to bytes and back. Bodies are plain data: what JSON has, and Uint8Array, Date, bigint and undefined besides; class instances
 * arrive as plain objects. Bytes in are never trusted, and bytes out are checked to be what the other side accepts.
 */
export const LENGTH_BYTES = 4;
const METHOD_CHARS_MAX = 200;
const TEXT_CHARS_MAX = 4_096;

// Records would make a frame's meaning depend on the frames before it. Maps of any size are written, in the shortest form.
const packr = new Packr({ useRecords: false, variableMapSize: true });
// Copying lets a small blob outlive the 64 KiB chunk that it arrived in without keeping that alive.
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, copyBuffers: true });
const range = { start: 0, end: 0 };

/** What the next frames are packed into after a large one: the memory of that one goes when it has left. */
const SMALL_BYTES = 8_192;

/** The frame with its length in front. `bytesInside`: how many bytes its body is known to hold at least. Throws WireFailure TOO_LARGE or UNENCODABLE. */
export function encodeFrame(frame: Frame, bytesMax: number, bytesInside = 0): Buffer {
  if (frame.kind === KIND.request || frame.kind === KIND.open) {
    if (frame.method.length > METHOD_CHARS_MAX || (frame.trace?.length ?? 0) > TEXT_CHARS_MAX) {
      throw new WireFailure(
        "BAD_REQUEST",
        `a method has at most ${METHOD_CHARS_MAX} characters, a trace ${TEXT_CHARS_MAX}`,
      );
    }
  }
  if (bytesInside < LARGE_FRAME_BYTES || bytesInside > bytesMax)
    return encodeValue(elementsOf(frame), bytesMax);
  packr.useBuffer(lendMemory(bytesInside));
  return encodeValue(elementsOf(frame), bytesMax);
}

export function encodeValue(value: unknown, bytesMax: number): Buffer {
  let bytes: Buffer;
  try {
    bytes = packr.pack(value, RESERVE_START_SPACE + LENGTH_BYTES);
  } catch (error) {
    // Memory that was lent for this frame must not become that of others.
    packr.useBuffer(Buffer.allocUnsafeSlow(SMALL_BYTES));
    throw new WireFailure("UNENCODABLE", "the body cannot be encoded: it must be plain data", {
      cause: error,
    });
  }
  const length = bytes.length - LENGTH_BYTES;
  if (bytes.buffer.byteLength >= LARGE_FRAME_BYTES) packr.useBuffer(Buffer.allocUnsafeSlow(SMALL_BYTES));
  if (length > bytesMax) {
    throw new WireFailure(
      "TOO_LARGE",
      `a frame of ${length} bytes is longer than the ${bytesMax} that are allowed`,
    );
  }
  if (length > DEPTH_MAX) checkOutgoing(bytes);
  bytes.writeUInt32BE(length, 0);
  return bytes;
}

/** The value in `bytes[start, end)`, after checking that it is safe to build. Throws MalformedFrame. */
export function decodeValue(bytes: Uint8Array, start: number, end: number): unknown {
  scan(bytes, start, end);
  range.start = start;
  range.end = end;
  try {
    return unpackr.unpack(bytes, range) as unknown;
  } catch (error) {
    throw new MalformedFrame("not msgpack", { cause: error });
  }
}

/** Undefined for a kind that this version does not know. Throws MalformedFrame. */
export function decodeFrame(bytes: Uint8Array, start: number, end: number): Frame | undefined {
  const value = decodeValue(bytes, start, end);
  if (!Array.isArray(value)) throw new MalformedFrame("a frame must be a list");
  const fields = value as readonly unknown[];
  const kind = fields[0];
  switch (kind) {
    case KIND.request:
      return {
        kind,
        id: count(fields[1], "id"),
        method: text(fields[2], "method", METHOD_CHARS_MAX),
        timeoutMs: duration(fields[3]),
        body: fields[4],
        trace: optionalText(fields[5], "trace"),
      };
    case KIND.response:
      return { kind, id: count(fields[1], "id"), body: fields[2] };
    case KIND.failure:
      return {
        kind,
        id: count(fields[1], "id"),
        code: text(fields[2], "code", METHOD_CHARS_MAX),
        message: text(fields[3], "message", TEXT_CHARS_MAX),
      };
    case KIND.cancel:
    case KIND.end:
      return { kind, id: count(fields[1], "id") };
    case KIND.open:
      return {
        kind,
        id: count(fields[1], "id"),
        method: text(fields[2], "method", METHOD_CHARS_MAX),
        credit: count(fields[3], "credit"),
        body: fields[4],
        trace: optionalText(fields[5], "trace"),
      };
    case KIND.item:
      return { kind, id: count(fields[1], "id"), seq: count(fields[2], "seq"), body: fields[3] };
    case KIND.credit:
      return { kind, id: count(fields[1], "id"), n: count(fields[2], "credit") };
    case KIND.ping:
    case KIND.pong:
      return { kind, nonce: count(fields[1], "nonce") };
    case KIND.goaway:
      return {
        kind,
        code: text(fields[1], "code", METHOD_CHARS_MAX),
        message: text(fields[2], "message", TEXT_CHARS_MAX),
      };
    case KIND.hello:
      throw new MalformedFrame("a second hello");
    default:
      count(kind, "kind");
      return undefined;
  }
}

function elementsOf(frame: Frame): unknown[] {
  switch (frame.kind) {
    case KIND.request: {
      const { kind, id, method, timeoutMs, body, trace } = frame;
      return trace === undefined
        ? [kind, id, method, timeoutMs, body]
        : [kind, id, method, timeoutMs, body, trace];
    }
    case KIND.response:
      return [frame.kind, frame.id, frame.body];
    case KIND.failure:
      return [frame.kind, frame.id, frame.code, frame.message];
    case KIND.cancel:
    case KIND.end:
      return [frame.kind, frame.id];
    case KIND.open: {
      const { kind, id, method, credit, body, trace } = frame;
      return trace === undefined ? [kind, id, method, credit, body] : [kind, id, method, credit, body, trace];
    }
    case KIND.item:
      return [frame.kind, frame.id, frame.seq, frame.body];
    case KIND.credit:
      return [frame.kind, frame.id, frame.n];
    case KIND.ping:
    case KIND.pong:
      return [frame.kind, frame.nonce];
    case KIND.goaway:
      return [frame.kind, frame.code, frame.message];
  }
}

function checkOutgoing(bytes: Buffer): void {
  try {
    scan(bytes, LENGTH_BYTES, bytes.length);
  } catch (error) {
    throw new WireFailure("UNENCODABLE", `the body cannot be sent: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function count(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new MalformedFrame(`${name} must be a whole number, not ${typeof value}`);
}

function duration(value: unknown): number {
  if (typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw new MalformedFrame(`timeoutMs must be a number from 0 up, not ${typeof value}`);
}

function text(value: unknown, name: string, charsMax: number): string {
  if (typeof value === "string" && value.length <= charsMax) return value;
  throw new MalformedFrame(`${name} must be text of at most ${charsMax} characters`);
}

function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, name, TEXT_CHARS_MAX);
}
