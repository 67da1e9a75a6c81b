/**
 * Makes what another program wrote into a folder durable: files it made since the last time are synced, then the folders whose entries changed. It relies on
 * files never changing once they have their name, as is so for objects.
 */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

export class FolderSync {
  readonly #root: string;
  /** Names by folder that were durable after the last run. */
  #durable = new Map<string, ReadonlySet<string>>();

  constructor(root: string) {
    this.#root = root;
  }

  async run(): Promise<void> {
    const seen = new Map<string, ReadonlySet<string>>();
    await this.#folder(this.#root, seen);
    this.#durable = seen;
  }

  async #folder(folder: string, seen: Map<string, ReadonlySet<string>>): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    const known = this.#durable.get(folder);
    const fresh = entries.filter(({ name }) => known?.has(name) !== true);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      // oxlint-disable-next-line no-await-in-loop -- few files are new, and their order on disk is the disk's affair.
      if (entry.isDirectory()) await this.#folder(path, seen);
    }
    // oxlint-disable-next-line no-await-in-loop -- as above.
    for (const entry of fresh) if (entry.isFile()) await sync(join(folder, entry.name));
    if (fresh.length > 0) await sync(folder);
    seen.set(folder, names);
  }
}

/** What is gone by now was not needed: SlateDB removes what it has compacted. */
async function sync(path: string): Promise<void> {
  let file;
  try {
    file = await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
