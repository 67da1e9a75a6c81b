/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** Objects that are written in pieces because they are large, or because nobody knows how large. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { pattern, type Facts } from "./scene.ts";

const MIB = 1024 * 1024;

async function* inPieces(bytes: Buffer, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

export const streams: Facts = {
  about: "streams",
  facts: {
    "twenty megabytes in odd pieces come back, whole and by range": async (scene) => {
      const bytes = pattern(20 * MIB + 3);
      const key = scene.key("large");
      expect(await scene.objects.putStream(key, inPieces(bytes, 777_777), scene.call)).toBe(bytes.length);
      expect(await scene.second.head(key, scene.call)).toMatchObject({ sizeBytes: bytes.length });
      const got = await scene.objects.get(key, scene.call);
      const digest = (each: Buffer): string => createHash("sha256").update(each).digest("hex");
      expect(digest(got!.bytes)).toBe(digest(bytes));
      for (const offset of [0, 8 * MIB - 5, 16 * MIB - 1, 20 * MIB]) {
        const part = await scene.objects.getRange(key, offset, 100_000, scene.call);
        expect(part?.bytes.equals(bytes.subarray(offset, offset + 100_000))).toBe(true);
      }
      expect(await scene.all("")).toEqual(["large"]);
    },
    "a stream may be empty, short, or replace what was there": async (scene) => {
      await scene.put("a", "before");
      for (const text of ["", "short"]) {
        expect(
          await scene.objects.putStream(scene.key("a"), inPieces(Buffer.from(text), 2), scene.call),
        ).toBe(text.length);
        expect(await scene.text("a")).toBe(text);
      }
    },
    "a stream that fails leaves what was there, and fails with its own error": async (scene) => {
      await scene.put("a", "before");
      for (const goodBytes of [10, 9 * MIB]) {
        const source = async function* (): AsyncGenerator<Uint8Array> {
          yield* inPieces(pattern(goodBytes), MIB);
          throw new Error("the source broke");
        };
        await expect(scene.objects.putStream(scene.key("a"), source(), scene.call)).rejects.toThrow(
          "the source broke",
        );
        await expect(scene.objects.putStream(scene.key("b"), source(), scene.call)).rejects.toThrow(
          "the source broke",
        );
      }
      expect(await scene.all("")).toEqual(["a"]);
      expect(await scene.text("a")).toBe("before");
    },
  },
};
