/**
 * A look at a data file before lmdb maps it into memory: lmdb does not survive a file that is not its own, nor one that was cut short. It reads two headers;
 * only a file that is shorter than they say is read to the end, in a process of its own that may die of it.
 */
import { spawnSync } from "node:child_process";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { corruptFile, unusableFolder } from "./folder.ts";

/** The layout of a meta page in lmdb 3.5 (data version 2). */
const META = {
  magicAt: 0x18,
  pageBytesAt: 0x30,
  lastPageAt: 0x90,
  transactionAt: 0x98,
  bytes: 0xa0,
} as const;
const MAGIC = 0xbeefc0de;
const PAGE_BYTES_MAX = 64 * 1024;

export function checkDataFile(path: string): void {
  const header = readHeader(path);
  if (header === undefined) return;
  if (header === "foreign") throw corruptFile(path, "it has no lmdb header");
  if (header.bytes < header.bytesExpected && !readable(path))
    throw corruptFile(path, `it has ${header.bytes} bytes of at least ${header.bytesExpected}`);
}

function readHeader(path: string): { bytes: number; bytesExpected: number } | "foreign" | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusableFolder(path, error);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return "foreign";
    // As a process leaves it that died before its first write.
    if (stat.size === 0) return undefined;
    const first = readMeta(fd, 0);
    if (first === undefined) return "foreign";
    const second = readMeta(fd, first.pageBytes);
    if (second === undefined) return "foreign";
    const newest = second.transaction > first.transaction ? second : first;
    return { bytes: stat.size, bytesExpected: (newest.lastPage + 1) * first.pageBytes };
  } finally {
    closeSync(fd);
  }
}

function readMeta(
  fd: number,
  at: number,
): { pageBytes: number; lastPage: number; transaction: bigint } | undefined {
  const meta = Buffer.alloc(META.bytes);
  if (readSync(fd, meta, 0, META.bytes, at) < META.bytes) return undefined;
  const pageBytes = meta.readUInt32LE(META.pageBytesAt);
  if (meta.readUInt32LE(META.magicAt) !== MAGIC || pageBytes < META.bytes || pageBytes > PAGE_BYTES_MAX)
    return undefined;
  return {
    pageBytes,
    lastPage: Number(meta.readBigUInt64LE(META.lastPageAt)),
    transaction: meta.readBigUInt64LE(META.transactionAt),
  };
}

/** Pages at the end that were taken and given back in one transaction are never written, so a short file may be whole: try it. */
function readable(path: string): boolean {
  const code = `
    const { open } = require(${JSON.stringify(createRequire(import.meta.url).resolve("lmdb"))});
    const root = open({ path: ${JSON.stringify(dirname(path))}, noSubdir: false, readOnly: true, maxDbs: 3 });
    for (const name of ["store", "keys", "sessions"])
      for (const { value } of root.openDB({ name, keyEncoding: "binary" }).getRange({})) void value;`;
  return spawnSync(process.execPath, ["-e", code], { stdio: "ignore" }).status === 0;
}
