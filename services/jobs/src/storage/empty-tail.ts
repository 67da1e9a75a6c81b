/**
 * What a power failure leaves of a database in a folder whose last files had not been synced: they have a name and no content, and SlateDB opens no database that
 * has one. Nobody was told of what they were to hold, because that comes after a sync, so they are removed. An empty file that others follow is left as it is:
 * that is damage of another kind, and the opening says so.
 */
import { readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Where SlateDB writes one file after the other, numbered. */
const FOLDERS = ["wal", "manifest"];

export async function removeEmptyTail(root: string): Promise<void> {
  for (const folder of FOLDERS) {
    // oxlint-disable-next-line no-await-in-loop -- two of them.
    const names = await namesIn(join(root, folder));
    for (const name of names.toReversed()) {
      const path = join(root, folder, name);
      // oxlint-disable-next-line no-await-in-loop -- from the last one on, as far as they are empty.
      if ((await stat(path)).size > 0) break;
      // oxlint-disable-next-line no-await-in-loop -- as above.
      await unlink(path);
    }
  }
}

/** Those that have their number, in its order: what is still being written has a longer name. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => /^\d+\.(sst|manifest)$/.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
