import { MalformedFrame } from "../errors.ts";

/**
 * Walks msgpack bytes without building anything, so that a decoder may trust them: every length lies inside the frame, nesting and
 * the number of containers are bounded, and no extension occurs but the two our encoder writes. Without this, a frame of nested
 * arrays that each claim to hold all that follows makes a decoder allocate gigabytes.
 */

/** A frame of fewer bytes cannot nest deeper, so an encoder needs to check only longer ones. */
export const DEPTH_MAX = 512;
/** An empty map is one byte on the wire and fifty in memory. */
const CONTAINERS_MAX = 1_048_576;

const EXT_UNDEFINED = 0x00;
const EXT_TIMESTAMP = 0xff;

/** How many values still to read at each depth. Shared: a scan never yields. */
const left = new Uint32Array(DEPTH_MAX + 1);

/** Throws MalformedFrame unless `bytes[start, end)` is exactly one acceptable value. */
export function scan(bytes: Uint8Array, start: number, end: number): void {
  let at = start;
  let depth = 0;
  let containers = 0;
  left[0] = 1;
  while (depth >= 0) {
    if (left[depth] === 0) {
      depth -= 1;
      continue;
    }
    left[depth] = (left[depth] as number) - 1;
    if (at >= end) throw new MalformedFrame("a value goes on beyond the end of its frame");
    const token = bytes[at] as number;
    at += 1;
    let inner = -1;
    if (token < 0x80 || token >= 0xe0) continue;
    if (token < 0x90) inner = (token & 0x0f) * 2;
    else if (token < 0xa0) inner = token & 0x0f;
    else if (token < 0xc0) at += token & 0x1f;
    else {
      switch (token) {
        case 0xc0:
        case 0xc2:
        case 0xc3:
          break;
        case 0xc4:
        case 0xd9:
          at += 1 + uint(bytes, at, 1, end);
          break;
        case 0xc5:
        case 0xda:
          at += 2 + uint(bytes, at, 2, end);
          break;
        case 0xc6:
        case 0xdb:
          at += 4 + uint(bytes, at, 4, end);
          break;
        case 0xc7:
          checkTimestamp(bytes[at + 1], uint(bytes, at, 1, end), 12);
          at += 14;
          break;
        case 0xca:
        case 0xce:
        case 0xd2:
          at += 4;
          break;
        case 0xcb:
        case 0xcf:
        case 0xd3:
          at += 8;
          break;
        case 0xcc:
        case 0xd0:
          at += 1;
          break;
        case 0xcd:
        case 0xd1:
          at += 2;
          break;
        case 0xd4:
          if (bytes[at] !== EXT_UNDEFINED) throw refusedExtension(bytes[at]);
          at += 2;
          break;
        case 0xd6:
          checkTimestamp(bytes[at], 4, 4);
          at += 5;
          break;
        case 0xd7:
          checkTimestamp(bytes[at], 8, 8);
          at += 9;
          break;
        case 0xdc:
          inner = uint(bytes, at, 2, end);
          at += 2;
          break;
        case 0xdd:
          inner = uint(bytes, at, 4, end);
          at += 4;
          break;
        case 0xde:
          inner = uint(bytes, at, 2, end) * 2;
          at += 2;
          break;
        case 0xdf:
          inner = uint(bytes, at, 4, end) * 2;
          at += 4;
          break;
        default:
          throw new MalformedFrame(`byte 0x${token.toString(16)} begins no value that is accepted here`);
      }
    }
    if (at > end) throw new MalformedFrame("a value goes on beyond the end of its frame");
    if (inner < 0) continue;
    if (inner > end - at) throw new MalformedFrame(`a container of ${inner} values does not fit its frame`);
    containers += 1;
    if (containers > CONTAINERS_MAX)
      throw new MalformedFrame(`more than ${CONTAINERS_MAX} lists and maps in one frame`);
    depth += 1;
    if (depth > DEPTH_MAX) throw new MalformedFrame(`nested deeper than ${DEPTH_MAX}`);
    left[depth] = inner;
  }
  if (at !== end) throw new MalformedFrame(`${end - at} bytes follow the frame's value`);
}

function uint(bytes: Uint8Array, at: number, size: number, end: number): number {
  if (at + size > end) throw new MalformedFrame("a length goes on beyond the end of its frame");
  let value = 0;
  for (let i = 0; i < size; i += 1) value = value * 256 + (bytes[at + i] as number);
  return value;
}

function checkTimestamp(type: number | undefined, length: number, expected: number): void {
  if (type !== EXT_TIMESTAMP || length !== expected) throw refusedExtension(type);
}

function refusedExtension(type: number | undefined): MalformedFrame {
  return new MalformedFrame(`msgpack extension ${type} is not accepted here`);
}
