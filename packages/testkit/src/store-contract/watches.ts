/** Watching: every change once, in order, in one piece per revision, or a plain word that it cannot be so. */
import type { Store } from "@keelson/kernel";
import { expect } from "vitest";
import type { Facts } from "./facts.ts";

export const watches: Facts = {
  about: "watch",
  facts: {
    "changes arrive in order, grouped by revision, with the revision of the entry": async (scene) => {
      const watch = scene.watch(await scene.revision());
      const first = await scene.committed([scene.write("a", "1"), scene.write("b", "1")]);
      const second = await scene.committed([scene.write("a", "2"), scene.erase("b"), scene.write("c", "1")]);
      await scene.caughtUp(watch);
      expect(watch.told.map((words) => words.toSorted())).toEqual([
        ["+a=1", "+b=1"],
        ["+a=2", "+c=1", "-b"],
      ]);
      expect(watch.batches.slice(0, 2).map(({ revision }) => revision)).toEqual([first, second]);
      for (const { changes, revision, incarnation } of watch.batches) {
        expect(incarnation).toBe(scene.incarnation);
        for (const change of changes)
          expect(change.kind === "put" ? change.entry.revision : change.revision).toBe(revision);
      }
    },
    "put, delete and put again of one key are three changes": async (scene) => {
      const watch = scene.watch(await scene.revision());
      await scene.put("a", "1");
      await scene.committed([scene.erase("a")]);
      await scene.put("a", "2");
      await scene.caughtUp(watch);
      expect(watch.lines).toEqual(["+a=1", "-a", "+a=2"]);
    },
    "a deletion by hand is not marked as expired": async (scene) => {
      const watch = scene.watch(await scene.put("a"));
      await scene.committed([scene.erase("a")]);
      await scene.caughtUp(watch);
      expect(watch.deletionOf("a")?.changes[0]).not.toMatchObject({ expired: true });
    },
    "only changes under the prefix arrive, and an entry names its session": async (scene) => {
      const session = await scene.openSession();
      const watch = scene.watch(await scene.revision(), `${scene.prefix}in/`);
      await scene.committed([scene.write("in/a"), scene.write("out/a"), scene.write("in")]);
      await scene.put("out/b");
      await scene.put("in/b", "v", session);
      await scene.eventually("the second change arrives", () => watch.batches.length === 2);
      expect(watch.told).toEqual([["+in/a=v"], ["+in/b=v"]]);
      expect(watch.batches[1]?.changes[0]).toMatchObject({ entry: { session } });
    },
    "what changed nothing is not told": async (scene) => {
      const revision = await scene.put("a");
      const watch = scene.watch(revision);
      await scene.commit([scene.write("a", "2")], [scene.guard("a", 0)]);
      await scene.commit([scene.erase("none")]);
      await scene.commit([], [scene.guard("a", revision)]);
      await scene.caughtUp(watch);
      expect(watch.told).toEqual([]);
    },
    "a watch after a revision is told what came since, then what comes": async (scene) => {
      await scene.put("a", "before");
      const from = await scene.put("a", "seen");
      await scene.put("a", "missed");
      await scene.put("b", "missed");
      const watch = scene.watch(from);
      await scene.put("c", "live");
      await scene.caughtUp(watch);
      expect(watch.lines).toEqual(["+a=missed", "+b=missed", "+c=live"]);
    },
    "resuming after the last delivered revision misses nothing and repeats nothing": async (scene) => {
      const from = await scene.revision();
      const lines: string[] = [];
      let after = from;
      let watch = scene.watch(after);
      const writing = (async () => {
        for (let n = 0; n < 60; n += 1) {
          // oxlint-disable-next-line no-await-in-loop -- the order of writes is what is tested.
          await scene.put("n", `${n}`);
        }
      })();
      for (let round = 0; round < 6; round += 1) {
        const goal = (round + 1) * 8;
        const seen = watch;
        // oxlint-disable-next-line no-await-in-loop -- each round resumes where the last one stopped.
        await scene.eventually("some changes arrive", () => lines.length + seen.batches.length >= goal);
        watch.close();
        lines.push(...watch.lines);
        after = watch.batches.at(-1)?.revision ?? after;
        watch = scene.watch(after, scene.prefix, round % 2 === 0 ? scene.second : scene.store);
      }
      await writing;
      await scene.caughtUp(watch);
      lines.push(...watch.lines);
      expect(lines).toEqual(Array.from({ length: 60 }, (_, n) => `+n=${n}`));
    },
    "watches of several clients are told the same in the same order": async (scene) => {
      const from = await scene.revision();
      const watched = [scene.store, scene.second, scene.store].map((store) =>
        scene.watch(from, scene.prefix, store),
      );
      await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          scene.commit([scene.write(`${n % 7}`, `${n}`)], [], n % 2 === 0 ? scene.store : scene.second),
        ),
      );
      for (const watch of watched) {
        // oxlint-disable-next-line no-await-in-loop -- few.
        await scene.caughtUp(watch);
      }
      expect(watched[0]?.lines).toHaveLength(30);
      expect(watched[1]?.lines).toEqual(watched[0]?.lines);
      expect(watched[2]?.lines).toEqual(watched[0]?.lines);
      const revisions = watched[0]?.batches.map(({ revision }) => revision) ?? [];
      expect(new Set(revisions).size).toBe(revisions.length);
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    },
    "a listing and a watch from its first page's revision make an exact copy": async (scene) => {
      const writing = Promise.all(Array.from({ length: 40 }, (_, n) => scene.put(`${n % 9}`, `${n}`)));
      const page = await scene.second.range(scene.prefix, scene.call);
      const watch = scene.watch(page.revision, scene.prefix, scene.second);
      await writing;
      await scene.caughtUp(watch);
      const copy = new Map(page.entries.map(({ key, value }) => [key, value]));
      for (const { changes } of watch.batches)
        for (const change of changes) {
          if (change.kind === "put") copy.set(change.entry.key, change.entry.value);
          else copy.delete(change.key);
        }
      const truth = (await scene.entries()).map(({ key, value }) => [scene.prefix + key, value] as const);
      expect(copy).toEqual(new Map(truth));
    },
    "a sink is told nothing before watch has returned": async (scene) => {
      const from = await scene.revision();
      await scene.put("a");
      for (const after of [from, from + 1_000_000]) {
        let returned = false;
        let early = false;
        let told = 0;
        const hear = (): void => {
          told += 1;
          if (!returned) early = true;
        };
        scene.store.watch(scene.prefix, after, { changes: hear, relist: hear, closed: hear });
        returned = true;
        // oxlint-disable-next-line no-await-in-loop -- two cases.
        await scene.eventually("the watch says something", () => told > 0);
        expect(early).toBe(false);
      }
    },
    "a watch that was closed is told nothing more": async (scene) => {
      const watch = scene.watch(await scene.revision());
      const other = scene.watch(await scene.revision());
      await scene.put("a");
      await scene.eventually("the change arrives", () => watch.batches.length === 1);
      watch.close();
      watch.close();
      await scene.put("b");
      await scene.caughtUp(other);
      expect([watch.lines, watch.ends]).toEqual([["+a=v"], []]);
    },
    "a watch after a revision that the store has not reached must list again": async (scene) => {
      const watch = scene.watch((await scene.revision()) + 1000);
      await scene.eventually("it is told to list again", () => watch.ends.length > 0);
      await scene.put("a");
      expect([watch.ends, watch.batches]).toEqual([["relist"], []]);
    },
    "a watch after a revision that the store has forgotten must list again": {
      needs: ["forget"],
      show: async (scene) => {
        const from = await scene.revision();
        await scene.put("a");
        await scene.harness.forget?.();
        const watch = scene.watch(from);
        await scene.eventually("it is told to list again", () => watch.ends.length > 0);
        await scene.put("b");
        expect([watch.ends, watch.batches]).toEqual([["relist"], []]);
        const again = scene.watch(await scene.revision());
        await scene.put("c");
        await scene.caughtUp(again);
        expect(again.lines).toEqual(["+c=v"]);
      },
    },
    "closing a client ends its watches once, and leaves those of others": async (scene) => {
      const from = await scene.revision();
      const own = scene.watch(from, scene.prefix, scene.second);
      const other = scene.watch(from);
      await scene.put("a");
      await scene.eventually("the change arrives", () => own.batches.length === 1);
      await scene.second.close();
      await scene.caughtUp(other);
      expect([own.ends, own.batches.length]).toEqual([["closed"], 1]);
      expect(other.lines).toEqual(["+a=v"]);
    },
    "a client that was closed refuses calls as not sent": async (scene) => {
      const closed: Store = scene.second;
      await closed.close();
      await closed.close();
      const refused = { code: "STORE_UNAVAILABLE" };
      await expect(closed.range(scene.prefix, scene.call)).rejects.toMatchObject(refused);
      await expect(scene.commit([scene.write("a")], [], closed)).rejects.toMatchObject(refused);
      await expect(closed.openSession(1000, scene.call)).rejects.toMatchObject(refused);
      expect(await scene.names()).toEqual([]);
    },
  },
};
