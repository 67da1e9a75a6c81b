import type { Catalogue, CatalogueHead } from "@keelson/runtime";
import { expect, test } from "vitest";
import { halvesOf, splitFrozen, type SplitPorts } from "./splitting.ts";
import { shardRange } from "./ranges.ts";

const RANGE = shardRange("0", 1)!;
const HALVES = halvesOf(RANGE);
const SPLIT = [HALVES.left, HALVES.right];

/** Reports come as they are listed; the list changes after so many pauses, as the copy of a store that is behind. */
class Scene implements Pick<SplitPorts, "pause" | "release" | "onKept"> {
  commits = 0;
  pauses = 0;
  released = 0;
  kept: unknown;
  head: { value: CatalogueHead; revision: number } | undefined;
  readonly #reports: readonly string[];
  readonly #later: readonly string[] | undefined;
  readonly #releaseFails: boolean;

  constructor(reports: readonly string[], later?: readonly string[], releaseFails = false) {
    this.#reports = reports;
    this.#later = later;
    this.#releaseFails = releaseFails;
  }

  split(): Promise<void> {
    const catalogue = this as unknown as Catalogue;
    return splitFrozen(RANGE, HALVES, {
      catalogue,
      initialIds: ["0"],
      epoch: { era: 1, revision: 1 },
      copy: () => Promise.resolve(),
      pause: () => this.pause(),
      release: () => this.release(),
      onKept: (error) => this.onKept(error),
    });
  }

  commit(): Promise<string> {
    return Promise.resolve(this.#reports[this.commits++] ?? "none");
  }

  pause(): Promise<void> {
    this.pauses += 1;
    if (this.pauses === 3 && this.#later !== undefined)
      this.head = { value: { v: 1, n: 1, shardIds: this.#later }, revision: 9 };
    return Promise.resolve();
  }

  release(): Promise<void> {
    this.released += 1;
    return this.#releaseFails ? Promise.reject(new Error("S3 is away")) : Promise.resolve();
  }

  onKept(error: unknown): void {
    this.kept = error;
  }
}

test("a commit without an answer is sent again, and counts when the list has the halves, however late that is seen", async () => {
  const scene = new Scene(["unknown", "unavailable", "conflict"], SPLIT);
  await scene.split();
  expect(scene).toMatchObject({ commits: 3, released: 1 });
});

test("the second of two commits may be the one that is carried out", async () => {
  const scene = new Scene(["unknown", "committed"]);
  await scene.split();
  expect(scene).toMatchObject({ commits: 2, released: 1 });
});

test.each([
  ["the store was not reached", ["unavailable"], undefined],
  ["somebody else changed the list", ["conflict"], undefined],
  ["somebody else changed the list while it was in doubt", ["unknown", "conflict"], ["0", "1"]],
  ["the tenure ended while it was in doubt", ["unknown", "conflict"], undefined],
])("the shard is not split when %s", async (_, reports, later) => {
  const scene = new Scene(reports, later);
  await expect(scene.split()).rejects.toMatchObject({ code: "WRONG_STATE" });
  expect(scene).toMatchObject({ commits: reports.length, released: 0 });
});

test("a shard that was split stays so when its journals cannot be released, and that is told", async () => {
  const scene = new Scene(["committed"], undefined, true);
  await scene.split();
  expect(scene.released).toBeGreaterThan(1);
  expect(scene.kept).toMatchObject({ message: "S3 is away" });
});
