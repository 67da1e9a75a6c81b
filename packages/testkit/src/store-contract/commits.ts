/** Guarded commits: what holds, what fails, and that nothing is ever half applied. */
import { expect } from "vitest";
import type { Facts } from "./facts.ts";

export const commits: Facts = {
  about: "commit",
  facts: {
    "a guard on absence holds once, and its failure names the key": async (scene) => {
      await scene.committed([scene.write("a", "1")], [scene.guard("a", 0)]);
      const again = await scene.commit([scene.write("a", "2")], [scene.guard("a", 0)]);
      expect(again).toMatchObject({ kind: "conflict", failed: [`${scene.prefix}a`], gone: [] });
      expect((await scene.entry("a"))?.value).toBe("1");
    },
    "a guard on a revision holds for the last write only": async (scene) => {
      const first = await scene.put("a", "1");
      const second = await scene.put("a", "2");
      expect((await scene.commit([scene.write("a", "3")], [scene.guard("a", first)])).kind).toBe("conflict");
      expect((await scene.commit([scene.write("a", "3")], [scene.guard("a", second)])).kind).toBe(
        "committed",
      );
    },
    "a guard on a revision fails for a deleted key, and one on absence holds again": async (scene) => {
      const revision = await scene.put("a");
      await scene.committed([scene.erase("a")]);
      expect((await scene.commit([scene.write("a")], [scene.guard("a", revision)])).kind).toBe("conflict");
      expect((await scene.commit([scene.write("a")], [scene.guard("a", 0)])).kind).toBe("committed");
    },
    "one failed guard of many undoes all, and every failed key is named": async (scene) => {
      const held = await scene.put("held");
      await scene.put("taken");
      const before = await scene.revision();
      const outcome = await scene.commit(
        [scene.write("new"), scene.write("held", "changed"), scene.erase("taken")],
        [scene.guard("held", held), scene.guard("taken", 0), scene.guard("missing", held)],
      );
      if (outcome.kind !== "conflict") throw new Error(`it was ${outcome.kind}`);
      expect(outcome.failed.toSorted()).toEqual([`${scene.prefix}missing`, `${scene.prefix}taken`]);
      expect((await scene.entries()).map(({ key, value }) => `${key}=${value}`)).toEqual([
        "held=v",
        "taken=v",
      ]);
      expect(await scene.revision()).toBe(before);
    },
    "guards are checked against the state before the commit's own writes": async (scene) => {
      const revision = await scene.put("a");
      await scene.committed(
        [scene.erase("a"), scene.write("b")],
        [scene.guard("a", revision), scene.guard("b", 0)],
      );
      expect(await scene.names()).toEqual(["b"]);
    },
    "all writes of a commit have its revision, and revisions rise": async (scene) => {
      const first = await scene.committed([scene.write("a"), scene.write("b")]);
      const second = await scene.committed([scene.write("b"), scene.write("c")]);
      expect(second).toBeGreaterThan(first);
      expect((await scene.entries()).map(({ revision }) => revision)).toEqual([first, second, second]);
    },
    "writing the same value again is a write with a new revision": async (scene) => {
      const first = await scene.put("a", "same");
      const second = await scene.committed([scene.write("a", "same")], [scene.guard("a", first)]);
      expect(second).toBeGreaterThan(first);
      expect((await scene.entry("a"))?.revision).toBe(second);
    },
    "a key that was deleted and written again has a higher revision than ever": async (scene) => {
      const first = await scene.put("a");
      await scene.committed([scene.erase("a")]);
      expect(await scene.put("a")).toBeGreaterThan(first + 1);
    },
    "deleting an absent key commits and changes nothing": async (scene) => {
      const before = await scene.put("a");
      const outcome = await scene.commit([scene.erase("none")]);
      expect(outcome).toMatchObject({ kind: "committed", revision: before });
      expect(await scene.names()).toEqual(["a"]);
    },
    "a commit without writes checks its guards": async (scene) => {
      const revision = await scene.put("a");
      expect((await scene.commit([], [scene.guard("a", revision)])).kind).toBe("committed");
      expect((await scene.commit([], [scene.guard("a", 0)])).kind).toBe("conflict");
      expect(await scene.revision()).toBe(revision);
    },
    "a commit that names another incarnation is refused, and nothing is applied": async (scene) => {
      await scene.put("a");
      const before = await scene.revision();
      const outcome = await scene.store.commit(
        { guards: [], writes: [scene.write("a", "stale"), scene.write("b")] },
        { ...scene.call, incarnation: "of-another-life" },
      );
      expect(outcome).toEqual({ kind: "incarnation", revision: before, incarnation: scene.incarnation });
      expect((await scene.entries()).map(({ key, value }) => `${key}=${value}`)).toEqual(["a=v"]);
    },
    "every reply names the same incarnation, to every client": async (scene) => {
      const session = await scene.openSession();
      const replies = [
        await scene.commit([scene.write("a")]),
        await scene.commit([scene.write("a")], [scene.guard("a", 0)]),
        await scene.commit([scene.write("b")], [], scene.second),
        await scene.second.range(scene.prefix, scene.call),
        await scene.second.openSession(scene.harness.ttlMs, scene.call),
        await scene.second.renew([session], scene.call),
        await scene.store.revoke(session, scene.call),
      ];
      expect(new Set(replies.map(({ incarnation }) => incarnation))).toEqual(new Set([scene.incarnation]));
      const revisions = replies.map(({ revision }) => revision);
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    },
    "of many commits at once on one key, one wins, and the rest are told": async (scene) => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const store = n % 2 === 0 ? scene.store : scene.second;
          return (await scene.commit([scene.write("a", `${n}`)], [scene.guard("a", 0)], store)).kind;
        }),
      );
      const winners = outcomes.flatMap((kind, n) => (kind === "committed" ? [`${n}`] : []));
      expect(winners).toHaveLength(1);
      expect(outcomes.filter((kind) => kind === "conflict")).toHaveLength(19);
      expect((await scene.entry("a"))?.value).toBe(winners[0]);
    },
    "a counter that many raise under guard loses no step": async (scene) => {
      await scene.put("n", "0");
      const raise = async (store: typeof scene.store): Promise<void> => {
        for (let done = false; !done;) {
          // oxlint-disable-next-line no-await-in-loop -- each try reads what the last one lost to.
          const entry = await scene.entry("n", store);
          if (entry === undefined) throw new Error("the counter is gone");
          const write = scene.write("n", `${Number(entry.value) + 1}`);
          // oxlint-disable-next-line no-await-in-loop -- the same.
          done =
            (await scene.commit([write], [scene.guard("n", entry.revision)], store)).kind === "committed";
        }
      };
      await Promise.all([scene.store, scene.second, scene.store, scene.second, scene.store].map(raise));
      expect((await scene.entry("n"))?.value).toBe("5");
    },
    "values come back exactly: empty, Unicode, JSON, quotes and line ends": async (scene) => {
      const values = [
        "",
        "naïve ✓ 𝄞 👩‍👩‍👧 한국어",
        '{"v":1,"of":"\\u0000\\"\'"}',
        "a\r\nb\tc\\",
        " leading and trailing ",
      ];
      await scene.committed(values.map((value, n) => scene.write(`${n}`, value)));
      expect((await scene.entries(scene.second)).map(({ value }) => value)).toEqual(values);
    },
  },
};
