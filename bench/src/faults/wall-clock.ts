/**
 * A wall clock per node that can leap, by libfaketime: a library that is loaded before all others and reads from a file how far to be off. Monotonic
 * clocks are left alone. Where the library is missing, clock jumps are left out, and the bench says so.
 */
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureServers } from "@keelson/testkit/servers";

/** The variant for programs with threads. */
const LIBRARY = "faketime/libfaketimeMT.so.1";
const LIBRARY_FOLDER = "/usr/lib";

export class WallClock {
  readonly #file: string;
  readonly #library: string;

  constructor(file: string, library: string) {
    this.#file = file;
    this.#library = library;
    this.leap(0);
  }

  /** What a process needs in its environment to live by this clock. The file is looked at once a second: at every reading would be slow. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** From now on it is so many seconds off. */
  leap(seconds: number): void {
    const draft = `${this.#file}.draft`;
    writeFileSync(draft, `${seconds < 0 ? "" : "+"}${seconds}\n`);
    renameSync(draft, this.#file);
  }
}

/** Where the library is; installs it when that is possible and says why not otherwise. */
export async function faketimeLibrary(progress: (line: string) => void): Promise<string | undefined> {
  try {
    await ensureServers(["faketime"], progress);
  } catch (error) {
    progress(`clock jumps are left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
  const found = readdirSync(LIBRARY_FOLDER)
    .map((folder) => join(LIBRARY_FOLDER, folder, LIBRARY))
    .find((file) => existsSync(file));
  if (found === undefined)
    progress(`clock jumps are left out: ${LIBRARY} is not in a folder of ${LIBRARY_FOLDER}`);
  return found;
}
