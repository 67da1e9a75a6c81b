/** Whole numbers up to 2^53 in eight little-endian bytes, without the detour over bigint. */

const HIGH = 2 ** 32;

export function writeNumber(into: Buffer, value: number, at: number): void {
  into.writeUInt32LE(value % HIGH, at);
  into.writeUInt32LE(Math.floor(value / HIGH), at + 4);
}

export function readNumber(from: Buffer, at: number): number {
  return from.readUInt32LE(at) + from.readUInt32LE(at + 4) * HIGH;
}
