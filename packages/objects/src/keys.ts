/**
 * What a key may be, and the order of keys. Keys are paths of segments between slashes. They are restricted to what every place can hold without
 * surprise: no empty, "." or ".." segment (servers and proxies rewrite those), no control character (listings are XML), no half of a character.
 */
import { OBJECT_LIMITS } from "./contract.ts";
import { rejected } from "./errors.ts";

/** And the two characters that XML has no way to write. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f\ufffe\uffff]/;
const HALF_CHARACTER = /\p{Surrogate}/u;

/** Throws OBJECT_REJECTED for anything that is not a key. */
export function checkKey(key: string): void {
  const problem = problemOf(key);
  if (problem !== undefined) throw rejected(`${quoted(key)} is not an object key: ${problem}`);
}

/** A prefix is the beginning of a key: it may end anywhere, and may be empty. */
export function checkPrefix(prefix: string): void {
  const problem = prefix === "" ? undefined : problemOf(prefix.endsWith("/") ? prefix.slice(0, -1) : prefix);
  // A last segment of dots may still become a name.
  if (problem !== undefined && !/(?:^|\/)\.{1,2}$/.test(prefix))
    throw rejected(`${quoted(prefix)} does not begin any object key: ${problem}`);
}

/** By UTF-8 bytes, which is by code points; not JavaScript's order, which is by UTF-16 units. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left === right) continue;
    // Surrogates stand for characters above all single units.
    const [leftPair, rightPair] = [isSurrogate(left), isSurrogate(right)];
    if (leftPair !== rightPair) return leftPair ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

function problemOf(key: string): string | undefined {
  if (key === "") return "it is empty";
  if (Buffer.byteLength(key) > OBJECT_LIMITS.keyBytesMax)
    return `it is longer than ${OBJECT_LIMITS.keyBytesMax} bytes`;
  if (CONTROL.test(key)) return "it has a control character";
  if (HALF_CHARACTER.test(key)) return "it has half of a character";
  const segment = key.split("/").find((each) => each === "" || each === "." || each === "..");
  if (segment === undefined) return undefined;
  return segment === "" ? "it has an empty segment" : `it has the segment "${segment}"`;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** For messages: short, and with nothing a terminal would act on. */
function quoted(key: string): string {
  return JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key);
}
