/**
 * A page of keys in order, from folders that are in no order. It reads only folders that may hold a key of the page, keeps only as many names of each as the
 * page can use, and looks at no file before its key is on the page.
 */
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "./file-errors.ts";
import { fromBytes, parseEntry, toBytes, type Entry } from "./names.ts";

const READ_AT_A_TIME = 512;

/** The path of an object's file, and its key. */
export interface ListedFile {
  readonly key: string;
  readonly file: string;
}

/** In byte strings, as everything here. */
interface Wanted {
  readonly prefix: string;
  readonly after: string;
  readonly check: () => void;
}

/** Yields files in the order of their keys. `atATime` is how many the caller is likely to take; `check` throws when the call is over. */
export async function* filesInOrder(
  root: string,
  prefix: string,
  after: string,
  atATime: number,
  check: () => void,
): AsyncGenerator<ListedFile> {
  yield* walk(root, "", { prefix: toBytes(prefix), after: toBytes(after), check }, atATime);
}

/** `path` is what the keys in this folder begin with. */
async function* walk(
  folder: string,
  path: string,
  wanted: Wanted,
  atATime: number,
): AsyncGenerator<ListedFile> {
  for (let past: string | undefined; ;) {
    const { entries, more } = await firstEntries(folder, path, wanted, past, atATime);
    for (const { kind, name, bytes } of entries) {
      const here = join(folder, name);
      if (kind === "object") yield { key: fromBytes(path + bytes), file: here };
      else yield* walk(here, path + bytes, wanted, atATime);
    }
    if (!more) return;
    past = orderOf(entries.at(-1)!);
  }
}

/** The first `count` entries, in order, that come after `past` and may lead to wanted keys. */
async function firstEntries(
  folder: string,
  path: string,
  wanted: Wanted,
  past: string | undefined,
  count: number,
): Promise<{ entries: Entry[]; more: boolean }> {
  const first = new FirstEntries(count);
  let seen = 0;
  try {
    for await (const { name } of await opendir(folder, { bufferSize: READ_AT_A_TIME })) {
      if (++seen % READ_AT_A_TIME === 0) wanted.check();
      const entry = parseEntry(name);
      if (entry === undefined || (past !== undefined && orderOf(entry) <= past)) continue;
      if (mayMatch(entry, path + entry.bytes, wanted)) first.add(entry);
    }
  } catch (error) {
    // Removed since its parent was read: then nothing is in it.
    if (!isErrno(error, "ENOENT", "ENOTDIR")) throw error;
  }
  return first.take();
}

function mayMatch({ kind }: Entry, path: string, { prefix, after }: Wanted): boolean {
  if (kind === "object") return path.startsWith(prefix) && path > after;
  if (!path.startsWith(prefix) && !prefix.startsWith(path)) return false;
  return path > after || after.startsWith(path);
}

/** Entries of one folder sort by this. An object and a folder of the same name differ by the folder's slash. */
function orderOf({ bytes }: Entry): string {
  return bytes;
}

/** Keeps the first so many of any number of entries. */
class FirstEntries {
  readonly #count: number;
  #entries: Entry[] = [];
  #last: string | undefined;
  #more = false;

  constructor(count: number) {
    this.#count = count;
  }

  add(entry: Entry): void {
    if (this.#last !== undefined && orderOf(entry) > this.#last) {
      this.#more = true;
      return;
    }
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#count) this.#cut();
  }

  take(): { entries: Entry[]; more: boolean } {
    this.#cut();
    return { entries: this.#entries, more: this.#more };
  }

  #cut(): void {
    this.#entries.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    if (this.#entries.length <= this.#count) return;
    this.#entries.length = this.#count;
    this.#more = true;
    this.#last = orderOf(this.#entries.at(-1)!);
  }
}
