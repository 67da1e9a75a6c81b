import { expect, test } from "vitest";
import { copyThrough } from "./copy-through.ts";
import { decodeManifest, MANIFEST_KEY, type Manifest } from "./manifest.ts";
import { MemoryPagesPlace } from "./memory-pages.ts";

const MANIFEST: Manifest = {
  version: 1,
  checkpoint: 7,
  restChunks: 1,
  runs: ["000000000001.0"],
  tails: [{ journal: "node/a", epoch: { era: 1, low: 2 } as never, from: 3 }],
};

test("a copy has every page, none of what was there before, and needs no journal", async () => {
  const [from, to] = [new MemoryPagesPlace().open(), new MemoryPagesPlace().open()];
  const keys = Array.from({ length: 120 }, (_, index) => `page/${String(index).padStart(4, "0")}`);
  await from.write({ put: keys.map((key) => ({ key, value: Buffer.from(key) })), delete: [] });
  await from.write({ put: [{ key: MANIFEST_KEY, value: Buffer.from("of the whole") }], delete: [] });
  await to.write({ put: [{ key: "page/of a former try", value: Buffer.from("x") }], delete: [] });
  await copyThrough(from, to, MANIFEST);
  const copied = await to.scan("page/", { limit: 1_000 });
  expect(copied.map(({ key }) => key)).toEqual(keys);
  expect(Buffer.from(copied[119]!.value).toString()).toBe("page/0119");
  expect(decodeManifest(await to.get(MANIFEST_KEY))).toEqual({ ...MANIFEST, tails: [] });
});
