/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** No call without a deadline, and none that outlives it. */
import { expect } from "vitest";
import type { Facts } from "./scene.ts";

const TIMEOUT_MS = 200;
/** A busy machine may be late, but not for ever. */
const LATE_MS = 3_000;

export const deadlines: Facts = {
  about: "deadlines",
  facts: {
    "a call on a silent place ends at its deadline": async (scene) => {
      const objects = await scene.harness.silent(scene.key("a"));
      if (objects === undefined) return;
      const startedAt = performance.now();
      const call = { timeoutMs: TIMEOUT_MS };
      const unavailable = { name: "ObjectError", code: "OBJECT_UNAVAILABLE" };
      await Promise.all([
        expect(objects.get(scene.key("a"), call)).rejects.toMatchObject(unavailable),
        expect(objects.getRange(scene.key("a"), 0, 1, call)).rejects.toMatchObject(unavailable),
      ]);
      const tookMs = performance.now() - startedAt;
      expect(tookMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 2);
      expect(tookMs).toBeLessThan(TIMEOUT_MS + LATE_MS);
    },
    "a call on a silent place ends when the caller says so": async (scene) => {
      const objects = await scene.harness.silent(scene.key("a"));
      if (objects === undefined) return;
      const abort = new AbortController();
      const got = objects.get(scene.key("a"), { timeoutMs: 15_000, signal: abort.signal });
      setTimeout(() => abort.abort(), 20);
      await expect(got).rejects.toMatchObject({ name: "ObjectError", code: "OBJECT_ABORTED" });
    },
    "a call that was aborted before it began changes nothing": async (scene) => {
      const call = { ...scene.call, signal: AbortSignal.abort() };
      const aborted = { code: "OBJECT_ABORTED" };
      await scene.put("a", "one");
      await expect(scene.objects.put(scene.key("a"), Buffer.from("two"), call)).rejects.toMatchObject(
        aborted,
      );
      await expect(scene.objects.putIfAbsent(scene.key("b"), Buffer.from("b"), call)).rejects.toMatchObject(
        aborted,
      );
      await expect(scene.objects.delete([scene.key("a")], call)).rejects.toMatchObject(aborted);
      await expect(scene.objects.list(scene.prefix, call)).rejects.toMatchObject(aborted);
      expect(await scene.all("")).toEqual(["a"]);
      expect(await scene.text("a")).toBe("one");
    },
    "a deadline that is no time is refused": async (scene) => {
      for (const timeoutMs of [0, -1, Number.NaN])
        await expect(scene.objects.get(scene.key("a"), { timeoutMs })).rejects.toMatchObject({
          code: "OBJECT_REJECTED",
        });
    },
  },
};
