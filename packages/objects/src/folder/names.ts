/**
 * How keys are spelled as paths. A segment of a key is a folder, the last one a file that ends in `.obj`, so that "a" and "a/b" can both exist. Names hold
 * only lower-case letters, digits, `_`, `-` and `.`; every other byte is `%xx`, capitals too, so that file systems that fold case or normalise
 * characters keep all keys apart. A segment of 80 bytes or more goes on in a further folder: `<80 bytes>%/<the rest>`.
 *
 * Inside this folder keys are compared as "byte strings", one character per UTF-8 byte, because their order is the order of bytes.
 */
import { join } from "node:path";

const SUFFIX = ".obj";
/** Encoded three times as long at most, which every file system takes. */
const CHUNK_BYTES = 80;
const PLAIN = /[a-z0-9_-]/;
/** Most names: nothing in them needs another spelling. */
const PLAIN_NAME = /^[a-z0-9_-](?:[a-z0-9_.-]*[a-z0-9_-])?$/;

/** What a name in a folder stands for. */
export interface Entry {
  readonly kind: "object" | "folder";
  readonly name: string;
  /** The key of an object, or what the keys of all objects in a folder begin with, without what the folder's own path says. */
  readonly bytes: string;
}

export interface KeyPath {
  /** Of the file, in the folder. */
  readonly file: string;
  /** The folder that holds it. */
  readonly folder: string;
}

export function keyPath(root: string, key: string): KeyPath {
  const folders: string[] = [];
  const segments = key.split("/").map(toBytes);
  let rest = "";
  for (const [at, segment] of segments.entries()) {
    rest = segment;
    while (rest.length >= CHUNK_BYTES) {
      folders.push(`${encode(rest.slice(0, CHUNK_BYTES))}%`);
      rest = rest.slice(CHUNK_BYTES);
    }
    if (at < segments.length - 1) folders.push(folderName(rest));
  }
  const folder = join(root, ...folders);
  return { folder, file: join(folder, `${encode(rest)}${SUFFIX}`) };
}

/** Undefined for a name that no key has. */
export function parseEntry(name: string): Entry | undefined {
  if (name.endsWith(SUFFIX)) {
    const bytes = decode(name.slice(0, -SUFFIX.length));
    return name === `${encode(bytes)}${SUFFIX}` ? { kind: "object", name, bytes } : undefined;
  }
  if (name !== "%" && name.endsWith("%")) {
    const bytes = decode(name.slice(0, -1));
    const canonical = bytes.length === CHUNK_BYTES && name === `${encode(bytes)}%`;
    return canonical ? { kind: "folder", name, bytes } : undefined;
  }
  const bytes = decode(name);
  return name === folderName(bytes) ? { kind: "folder", name, bytes: `${bytes}/` } : undefined;
}

export function toBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

export function fromBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}

/** A folder whose name ended like a file's would be taken for one. */
function folderName(bytes: string): string {
  const name = encode(bytes);
  return name.endsWith(SUFFIX) ? `${name.slice(0, -SUFFIX.length)}%2e${SUFFIX.slice(1)}` : name;
}

/** What is left of a segment may be nothing: that is `%`. Dots at either end mean things to file systems. */
function encode(bytes: string): string {
  if (bytes === "") return "%";
  if (PLAIN_NAME.test(bytes)) return bytes;
  let name = "";
  for (let at = 0; at < bytes.length; at += 1) {
    const char = bytes[at]!;
    const inside = char === "." && at > 0 && at < bytes.length - 1;
    name += inside || PLAIN.test(char) ? char : `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  }
  return name;
}

/** The inverse of `encode`. What `encode` does not make comes out as something that `encode` spells differently. */
function decode(name: string): string {
  if (name === "%") return "";
  if (!name.includes("%")) return name;
  return name.replaceAll(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
