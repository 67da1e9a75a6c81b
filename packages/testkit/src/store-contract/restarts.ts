/** Restarts: a store that stops and starts again keeps what it acknowledged, and takes nobody's time away. */
import { expect } from "vitest";
import type { Facts } from "./facts.ts";
import type { Scene } from "./scene.ts";

/** Clients may need a moment to find the store again; it may be another incarnation then, which later commits must name. */
async function restart(scene: Scene): Promise<void> {
  await scene.harness.restart?.();
  await scene.eventually("the store answers again", () =>
    scene.store.range(scene.prefix, scene.call).then(
      ({ incarnation }) => {
        scene.incarnation = incarnation;
        return true;
      },
      () => false,
    ),
  );
}

export const restarts: Facts = {
  about: "restart",
  facts: {
    "a restart keeps the incarnation": {
      needs: ["restart", "sameAfterRestart"],
      show: async (scene) => {
        const before = scene.incarnation;
        await restart(scene);
        expect(scene.incarnation).toBe(before);
      },
    },
    "a restart begins another incarnation": {
      needs: ["restart"],
      without: ["sameAfterRestart"],
      show: async (scene) => {
        const before = scene.incarnation;
        await restart(scene);
        expect(scene.incarnation).not.toBe(before);
      },
    },
    "a commit that left before a restart with another incarnation is refused after it": {
      needs: ["restart"],
      show: async (scene) => {
        await scene.put("a");
        const before = scene.incarnation;
        await restart(scene);
        const late = { guards: [], writes: [scene.write("late")] };
        const outcome = await scene.store.commit(late, { ...scene.call, incarnation: before });
        expect(outcome.kind).toBe(scene.incarnation === before ? "committed" : "incarnation");
        expect(await scene.names()).toEqual(scene.incarnation === before ? ["a", "late"] : ["a"]);
      },
    },
    "a restart keeps keys, values, revisions and sessions": {
      needs: ["restart"],
      show: async (scene) => {
        const session = await scene.openSession(scene.harness.ttlMs * 20);
        await scene.committed([scene.write("a", "naïve ✓"), scene.write("gone")]);
        await scene.committed([scene.write("b", "2", session), scene.erase("gone")]);
        const before = [await scene.entries(), await scene.revision()];
        await restart(scene);
        expect([await scene.entries(), await scene.revision()]).toEqual(before);
        expect(await scene.put("c")).toBeGreaterThan(before[1] as number);
        expect((await scene.store.renew([session], scene.call)).alive).toEqual([session]);
      },
    },
    "a restart gives every session a full TTL, after which it ends": {
      needs: ["restart"],
      show: async (scene) => {
        const { ttlMs, graceMs } = scene.harness;
        const session = await scene.openSession();
        await scene.put("a", "v", session);
        await scene.sleep(ttlMs * 0.7);
        await restart(scene);
        await scene.sleep(ttlMs * 0.6);
        expect(await scene.names()).toEqual(["a"]);
        await scene.sleep(ttlMs + graceMs);
        expect(await scene.names()).toEqual([]);
        expect((await scene.store.renew([session], scene.call)).gone).toEqual([session]);
      },
    },
    "a session that ended before a restart stays ended, and its id is not given again": {
      needs: ["restart"],
      show: async (scene) => {
        const ended = await scene.openSession();
        await scene.put("a", "v", ended);
        await scene.store.revoke(ended, scene.call);
        await restart(scene);
        expect((await scene.store.renew([ended], scene.call)).gone).toEqual([ended]);
        expect(await scene.names()).toEqual([]);
        const ids = [await scene.openSession(), await scene.openSession()];
        expect(ids).not.toContain(ended);
      },
    },
    "a watch goes on over a restart that does not cut it off, and misses nothing, or it is ended": {
      needs: ["restart"],
      without: ["cutByRestart"],
      show: async (scene) => {
        const watch = scene.watch(await scene.revision());
        await scene.put("a");
        await restart(scene);
        await scene.put("b");
        await scene.eventually(
          "the changes or the end",
          () => watch.lines.length === 2 || watch.ends.length === 1,
        );
        expect(["+a=v", "+b=v"].slice(0, watch.lines.length)).toEqual(watch.lines);
      },
    },
    "a watch is ended by a restart, and one that resumes misses nothing or must list again": {
      needs: ["restart", "cutByRestart"],
      show: async (scene) => {
        const from = await scene.revision();
        const watch = scene.watch(from);
        await scene.put("a");
        await scene.eventually("the change arrives", () => watch.batches.length === 1);
        await scene.put("b");
        const after = await scene.revision();
        await restart(scene);
        await scene.eventually("the watch ends", () => watch.ends.length > 0);
        expect(watch.ends).toHaveLength(1);
        const resumed = scene.watch(after);
        const late = scene.watch(from);
        await scene.put("c");
        await scene.eventually("the change arrives", () => resumed.lines.includes("+c=v"));
        expect(resumed.lines).toEqual(["+c=v"]);
        await scene.eventually(
          "the late watch hears all or must list again",
          () => late.ends.includes("relist") || late.lines.join(" ") === "+a=v +b=v +c=v",
        );
      },
    },
  },
};
