/**
 * Copies a shard's pages for a half of a split by reading them and writing them anew, while nobody else writes either. It works wherever pages lie, in a bucket too;
 * folders are copied file by file instead (copy-pages.ts), which is faster.
 */
import { encodeManifest, MANIFEST_KEY, type Manifest } from "./manifest.ts";
import type { PageEntry, Pages } from "./pages.ts";

/** Pages are tens of kilobytes; so many at once stay below what one write should be. */
const BATCH_PAGES = 50;
const DELETE_KEYS = 1_000;

/** `manifest` is that of a checkpoint which holds everything: the copy needs no journal. What a former try left in `to` is removed. */
export async function copyThrough(from: Pages, to: Pages, manifest: Manifest): Promise<void> {
  await clear(to);
  for (let after: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- page by page, in bounded memory.
    const found = await from.scan("", { after, limit: BATCH_PAGES });
    const put: readonly PageEntry[] = found.filter(({ key }) => key !== MANIFEST_KEY);
    // oxlint-disable-next-line no-await-in-loop -- as above.
    if (put.length > 0) await to.write({ put, delete: [] });
    if (found.length < BATCH_PAGES) break;
    after = found.at(-1)?.key;
  }
  // Last, because it is what makes the others count.
  const value = encodeManifest({ ...manifest, tails: [] });
  await to.write({ put: [{ key: MANIFEST_KEY, value }], delete: [] });
}

async function clear(pages: Pages): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- as many as are left.
    const left = await pages.scan("", { limit: DELETE_KEYS });
    if (left.length === 0) return;
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await pages.write({ put: [], delete: left.map(({ key }) => key) });
  }
}
