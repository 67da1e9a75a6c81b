/**
 * Copies a shard's pages for the halves of a split, while nobody writes them. SlateDB may still tidy up meanwhile: what a manifest names it removes minutes after a
 * newer manifest at the earliest, so the manifests are copied first, and everything that they name is still there. Folders only.
 */
import { constants } from "node:fs";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { encodeManifest, MANIFEST_KEY, type Manifest } from "./manifest.ts";
import { SlatePages } from "./slate-pages.ts";

/** `manifest` is that of a checkpoint which holds everything: the copy needs no journal. What a former try left is replaced. */
export async function copyPages(folder: string, from: string, to: string, manifest: Manifest): Promise<void> {
  await rm(join(folder, to), { recursive: true, force: true });
  await copyTree(join(folder, from, "manifest"), join(folder, to, "manifest"));
  await copyTree(join(folder, from), join(folder, to));
  const pages = await SlatePages.open({ place: { kind: "folder", folder }, name: to });
  try {
    const value = encodeManifest({ ...manifest, tails: [] });
    await pages.write({ put: [{ key: MANIFEST_KEY, value }], delete: [] });
  } finally {
    await pages.close();
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    // oxlint-disable-next-line no-await-in-loop -- a disk does one thing at a time.
    if (entry.isDirectory()) await copyTree(source, target);
    // oxlint-disable-next-line no-await-in-loop -- as above.
    else await copyIfAbsent(source, target);
  }
}

/** Files never change once they have their name; one that is gone by now is named by no manifest that was copied. */
async function copyIfAbsent(source: string, target: string): Promise<void> {
  try {
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" && code !== "ENOENT") throw error;
  }
}
