/**
 * The built files of the console, kept in memory and sent as they are. They are read when they are first asked for, and again when the page was
 * built anew: a gateway may be older than its console. It knows nothing of what the page shows.
 */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";

export interface ConsoleFile {
  readonly body: Buffer;
  /** Undefined where it would save nothing. */
  readonly gzip: Buffer | undefined;
  readonly contentType: string;
  readonly etag: string;
  /** Its name has a hash of its content: what it is now it is for ever. */
  readonly lasting: boolean;
}

const PAGE = "index.html";
/** More than ten times what the console has: a folder that holds more is not the console's. */
const bytesMax = 32 * 1024 * 1024;
const gzipBytesMin = 1_024;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".wasm": "application/wasm",
};

export class ConsoleFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, ConsoleFile> = new Map();
  #builtAt = 0;

  constructor(folder = consoleFolder()) {
    this.#folder = folder;
  }

  /** A file by its path below the folder. */
  get(path: string): ConsoleFile | undefined {
    if (this.#files.size === 0) this.#look();
    return this.#files.get(path);
  }

  /** The page itself; undefined while nobody has built it. */
  page(): ConsoleFile | undefined {
    this.#look();
    return this.#files.get(PAGE);
  }

  #look(): void {
    const builtAt = statSync(join(this.#folder, PAGE), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (builtAt === this.#builtAt) return;
    this.#files = builtAt === 0 ? new Map() : readFiles(this.#folder);
    this.#builtAt = builtAt;
  }
}

/** Where the console's workspace builds to. */
function consoleFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@keelson/console/package.json")), "dist/web");
}

function readFiles(folder: string): Map<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const contentType = CONTENT_TYPES[extname(entry.name)];
    if (!entry.isFile() || contentType === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const body = readFileSync(path);
    bytes += body.length;
    if (bytes > bytesMax)
      throw new Error(`${folder} has more than ${bytesMax} bytes: that is not the console`);
    const name = relative(folder, path);
    files.set(name, {
      body,
      gzip: body.length >= gzipBytesMin ? gzipSync(body) : undefined,
      contentType,
      etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
      lasting: name.startsWith("assets/"),
    });
  }
  return files;
}
