/** Sessions: what lives with them, what goes with them, and that an ended one never comes back. */
import { expect } from "vitest";
import type { Facts } from "./facts.ts";
import type { Scene } from "./scene.ts";

/** Lets a session that nobody renews end. */
async function outlive(scene: Scene): Promise<void> {
  await scene.sleep(scene.harness.ttlMs + scene.harness.graceMs);
}

export const sessions: Facts = {
  about: "session",
  facts: {
    "the keys of an expired session go in one revision and one batch": async (scene) => {
      const session = await scene.openSession();
      await scene.put("stays");
      await scene.put("a", "v", session);
      const revision = await scene.committed([
        scene.write("b", "v", session),
        scene.write("c", "v", session),
      ]);
      const watch = scene.watch(revision);
      await outlive(scene);
      await scene.eventually("the keys go", () => watch.batches.length > 0);
      await scene.caughtUp(watch);
      expect(watch.told.map((words) => words.toSorted())).toEqual([["-a", "-b", "-c"]]);
      expect(await scene.names()).toEqual(["stays", "~mark"]);
    },
    "deletions by a session's end say so": {
      needs: ["expired"],
      show: async (scene) => {
        const session = await scene.openSession();
        const watch = scene.watch(await scene.put("a", "v", session));
        await scene.store.revoke(session, scene.call);
        await scene.eventually("the key goes", () => watch.batches.length > 0);
        expect(watch.batches[0]?.changes).toMatchObject([{ kind: "delete", expired: true }]);
      },
    },
    "deletions by a session's end do not pretend to be anybody's": {
      needs: [],
      without: ["expired"],
      show: async (scene) => {
        const session = await scene.openSession();
        const watch = scene.watch(await scene.put("a", "v", session));
        await scene.store.revoke(session, scene.call);
        await scene.eventually("the key goes", () => watch.batches.length > 0);
        expect(watch.batches[0]?.changes.map(({ kind }) => kind)).toEqual(["delete"]);
        expect(watch.batches[0]?.changes[0]).not.toHaveProperty("expired", true);
      },
    },
    "a session lives for its TTL, and a renewal gives it a full one again": async (scene) => {
      const { ttlMs } = scene.harness;
      const session = await scene.openSession();
      await scene.put("a", "v", session);
      // Steps that leave room for a stall of the machine, and together outlast the TTL.
      for (let round = 0; round < 6; round += 1) {
        // oxlint-disable-next-line no-await-in-loop -- time passes in steps.
        await scene.sleep(ttlMs * 0.25);
        // oxlint-disable-next-line no-await-in-loop -- the same.
        const renewal = await scene.second.renew([session], scene.call);
        expect([renewal.alive, renewal.gone]).toEqual([[session], []]);
      }
      expect(await scene.names()).toEqual(["a"]);
    },
    "what is granted is never less than what was asked for": async (scene) => {
      const opened = await scene.store.openSession(scene.harness.ttlMs, scene.call);
      expect(opened.ttlMs).toBeGreaterThanOrEqual(scene.harness.ttlMs);
    },
    "a put with an ended session conflicts, names it, and nothing is applied": async (scene) => {
      const ended = await scene.openSession();
      const living = await scene.openSession();
      await scene.store.revoke(ended, scene.call);
      const outcome = await scene.commit([
        scene.write("free"),
        scene.write("a", "v", ended),
        scene.write("b", "v", living),
        scene.write("c", "v", ended),
      ]);
      expect(outcome).toMatchObject({ kind: "conflict", failed: [], gone: [ended] });
      expect(await scene.names()).toEqual([]);
    },
    "a put with a session that expired conflicts, even if nobody has looked since": async (scene) => {
      const session = await scene.openSession();
      await outlive(scene);
      const outcome = await scene.commit([scene.write("a", "v", session)]);
      expect(outcome).toMatchObject({ kind: "conflict", gone: [session] });
    },
    "a put with a session that never was conflicts": async (scene) => {
      const outcome = await scene.commit([scene.write("a", "v", "12345")]);
      expect(outcome).toMatchObject({ kind: "conflict", gone: ["12345"] });
    },
    "a conflict names failed guards and ended sessions together": async (scene) => {
      const session = await scene.openSession();
      await scene.store.revoke(session, scene.call);
      const outcome = await scene.commit([scene.write("a", "v", session)], [scene.guard("b", 7)]);
      expect(outcome).toMatchObject({ kind: "conflict", failed: [`${scene.prefix}b`], gone: [session] });
    },
    "an ended session stays ended: renewal says gone and brings nothing back": async (scene) => {
      const session = await scene.openSession();
      await scene.put("a", "v", session);
      await outlive(scene);
      for (let round = 0; round < 2; round += 1) {
        // oxlint-disable-next-line no-await-in-loop -- again, because the first must not have revived it.
        const renewal = await scene.store.renew([session], scene.call);
        expect([renewal.alive, renewal.gone]).toEqual([[], [session]]);
      }
      expect((await scene.commit([scene.write("b", "v", session)])).kind).toBe("conflict");
      expect(await scene.names()).toEqual([]);
    },
    "one renewal tells living sessions from ended and unknown ones": async (scene) => {
      const [one, two, three] = [
        await scene.openSession(),
        await scene.openSession(),
        await scene.openSession(),
      ];
      await scene.store.revoke(two, scene.call);
      const renewal = await scene.store.renew([one, two, three, "98765"], scene.call);
      expect(renewal.alive.toSorted()).toEqual([one, three].toSorted());
      expect(renewal.gone.toSorted()).toEqual([two, "98765"].toSorted());
    },
    "a revoked session's keys go at once, in one batch": async (scene) => {
      const session = await scene.openSession();
      const revision = await scene.committed([
        scene.write("a", "v", session),
        scene.write("b", "v", session),
      ]);
      const watch = scene.watch(revision);
      const reply = await scene.second.revoke(session, scene.call);
      expect(await scene.names()).toEqual([]);
      expect(reply.revision).toBeGreaterThan(revision);
      await scene.caughtUp(watch);
      expect(watch.told.map((words) => words.toSorted())).toEqual([["-a", "-b"]]);
    },
    "revoking twice, or what never was, is fine and changes nothing": async (scene) => {
      const session = await scene.openSession();
      await scene.put("a", "v", session);
      const first = await scene.store.revoke(session, scene.call);
      const second = await scene.store.revoke(session, scene.call);
      const third = await scene.store.revoke("424242", scene.call);
      expect([second.revision, third.revision]).toEqual([first.revision, first.revision]);
    },
    "a session without keys ends without a revision": async (scene) => {
      const before = await scene.put("a");
      const session = await scene.openSession();
      await scene.store.revoke(session, scene.call);
      expect(await scene.revision()).toBe(before);
    },
    "two sessions of one process live and end apart": async (scene) => {
      const [one, two] = [await scene.openSession(), await scene.openSession()];
      await scene.committed([scene.write("one", "v", one), scene.write("two", "v", two)]);
      await scene.store.revoke(one, scene.call);
      expect(await scene.names()).toEqual(["two"]);
      expect((await scene.store.renew([one, two], scene.call)).alive).toEqual([two]);
    },
    "a session outlives the client that opened it": async (scene) => {
      const { session } = await scene.second.openSession(scene.harness.ttlMs, scene.call);
      await scene.put("a", "v", session);
      await scene.second.close();
      expect((await scene.store.renew([session], scene.call)).alive).toEqual([session]);
      expect((await scene.entry("a"))?.session).toBe(session);
    },
    "a key written again belongs to the session of its last write, or to none": async (scene) => {
      const [one, two] = [await scene.openSession(), await scene.openSession()];
      await scene.committed(["free", "moved", "kept"].map((name) => scene.write(name, "v", one)));
      await scene.committed([scene.write("free"), scene.write("moved", "v", two)]);
      await scene.store.revoke(one, scene.call);
      expect((await scene.entries()).map(({ key, session }) => [key, session])).toEqual([
        ["free", undefined],
        ["moved", two],
      ]);
    },
    "a key deleted and written anew without the session survives the session's end": async (scene) => {
      const session = await scene.openSession();
      await scene.put("a", "v", session);
      await scene.committed([scene.erase("a")]);
      await scene.put("a");
      await scene.store.revoke(session, scene.call);
      expect(await scene.names()).toEqual(["a"]);
    },
    "no two sessions have the same id": async (scene) => {
      const opening = Array.from({ length: 50 }, (_, n) =>
        (n % 2 === 0 ? scene.store : scene.second).openSession(scene.harness.ttlMs, scene.call),
      );
      const ids = (await Promise.all(opening)).map(({ session }) => session);
      expect(new Set(ids).size).toBe(50);
    },
    "a thousand keys of one session go in one batch": async (scene) => {
      const session = await scene.openSession(scene.harness.ttlMs * 20);
      const names = Array.from({ length: 1000 }, (_, n) => `k${n}`);
      for (let at = 0; at < 1000; at += 100) {
        // oxlint-disable-next-line no-await-in-loop -- a commit takes a hundred writes.
        await scene.committed(names.slice(at, at + 100).map((name) => scene.write(name, "v", session)));
      }
      const watch = scene.watch(await scene.revision());
      await scene.store.revoke(session, scene.call);
      await scene.caughtUp(watch);
      expect(watch.told).toHaveLength(1);
      expect(watch.lines.toSorted()).toEqual(names.map((name) => `-${name}`).toSorted());
      expect(await scene.names()).toEqual(["~mark"]);
    },
  },
};
