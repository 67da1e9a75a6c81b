/** Reading: pages, their order, and that a read sees every write that was acknowledged before it was sent. */
import { expect } from "vitest";
import type { Facts } from "./facts.ts";
import type { Scene } from "./scene.ts";

const pad = (n: number): string => `${n}`.padStart(4, "0");

async function fill(scene: Scene, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, n) => pad(n));
  for (let at = 0; at < count; at += 100) {
    // oxlint-disable-next-line no-await-in-loop -- a commit takes a hundred writes.
    await scene.committed(names.slice(at, at + 100).map((name) => scene.write(name)));
  }
  return names;
}

export const ranges: Facts = {
  about: "range",
  facts: {
    "only keys with the prefix are listed, in order": async (scene) => {
      await scene.committed(["b/2", "a", "b/10", "b", "c", "b/1/x", "b0"].map((name) => scene.write(name)));
      expect(await scene.names()).toEqual(["a", "b", "b/1/x", "b/10", "b/2", "b0", "c"]);
      const page = await scene.store.range(`${scene.prefix}b/`, scene.call);
      expect(page.entries.map(({ key }) => key.slice(scene.prefix.length))).toEqual(["b/1/x", "b/10", "b/2"]);
      expect(page.more).toBe(false);
    },
    "nothing there is an empty page, true at a revision": async (scene) => {
      const revision = await scene.put("a");
      const page = await scene.store.range(`${scene.prefix}none/`, scene.call);
      expect(page).toMatchObject({ entries: [], more: false, revision, incarnation: scene.incarnation });
    },
    "characters that mean something in patterns mean nothing in a prefix": async (scene) => {
      await scene.committed(["a%b", "a_b", "a*b", "a.b", "a[b]", "axb"].map((name) => scene.write(name)));
      const listed = async (prefix: string): Promise<string[]> =>
        (await scene.store.range(scene.prefix + prefix, scene.call)).entries.map(({ key }) =>
          key.slice(scene.prefix.length),
        );
      expect(await listed("a%")).toEqual(["a%b"]);
      expect(await listed("a_")).toEqual(["a_b"]);
      expect(await listed("a*")).toEqual(["a*b"]);
      expect(await listed("a[")).toEqual(["a[b]"]);
    },
    "pages follow each other without gap or overlap": async (scene) => {
      const names = await fill(scene, 250);
      const pages: string[][] = [];
      for (let after: string | undefined, more = true; more;) {
        const options = { ...scene.call, limit: 100, ...(after === undefined ? {} : { after }) };
        // oxlint-disable-next-line no-await-in-loop -- a page begins where the last one ended.
        const page = await scene.store.range(scene.prefix, options);
        pages.push(page.entries.map(({ key }) => key.slice(scene.prefix.length)));
        after = page.entries.at(-1)?.key;
        more = page.more;
      }
      expect(pages.map((page) => page.length)).toEqual([100, 100, 50]);
      expect(pages.flat()).toEqual(names);
    },
    "a page that ends with the last key says that no more follow": async (scene) => {
      await fill(scene, 10);
      const page = await scene.store.range(scene.prefix, { ...scene.call, limit: 10 });
      expect([page.entries.length, page.more]).toEqual([10, false]);
    },
    "after need not be a key, and may be below the prefix": async (scene) => {
      await fill(scene, 4);
      const names = async (after: string): Promise<string[]> =>
        (await scene.store.range(scene.prefix, { ...scene.call, after })).entries.map(({ key }) =>
          key.slice(scene.prefix.length),
        );
      expect(await names(`${scene.prefix}0001x`)).toEqual(["0002", "0003"]);
      expect(await names(`${scene.prefix}0003`)).toEqual([]);
      expect(await names(scene.prefix.slice(0, -1))).toEqual(["0000", "0001", "0002", "0003"]);
    },
    "pages of one listing are true at revisions that never fall, while others write": async (scene) => {
      await fill(scene, 50);
      const revisions: number[] = [];
      const writing = Promise.all(Array.from({ length: 20 }, (_, n) => scene.put(`x${n}`)));
      for (let at = 0; at < 5; at += 1) {
        const after = `${scene.prefix}${pad(at * 10)}`;
        // oxlint-disable-next-line no-await-in-loop -- pages are read one after the other.
        const page = await scene.store.range(scene.prefix, { ...scene.call, limit: 10, after });
        revisions.push(page.revision);
      }
      await writing;
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
      expect(await scene.revision()).toBeGreaterThanOrEqual(revisions.at(-1) ?? 0);
    },
    "a read sees what another client was told is committed": async (scene) => {
      for (let n = 0; n < 20; n += 1) {
        // oxlint-disable-next-line no-await-in-loop -- each read follows its write.
        const revision = await scene.put("a", `${n}`);
        // oxlint-disable-next-line no-await-in-loop -- the same.
        const page = await scene.second.range(scene.prefix, scene.call);
        expect(page.entries[0]).toMatchObject({ value: `${n}`, revision });
        expect(page.revision).toBeGreaterThanOrEqual(revision);
      }
    },
    "a page says what the store's wall clock shows": async (scene) => {
      const first = await scene.store.range(scene.prefix, scene.call);
      await scene.sleep(20);
      const second = await scene.store.range(scene.prefix, scene.call);
      expect(second.serverTimeMs - first.serverTimeMs).toBeGreaterThan(0);
    },
  },
};
