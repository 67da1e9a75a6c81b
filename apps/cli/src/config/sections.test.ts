import { definePlugin } from "@keelson/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { pluginConfig } from "./sections.ts";

const mine = definePlugin({
  name: "mine",
  about: "for this test",
  config: z.object({ shards: z.int().default(4), folder: z.string().default(".") }),
  service: () => {
    throw new Error("never opened");
  },
});

test("what the file says wins over what flags say for the examples", () => {
  const sections = { mine: { where: "f.toml: [mine]", values: { shards: 9 } } };
  expect(pluginConfig([mine], sections, { mine: { shards: 2, folder: "x" } })).toEqual({
    mine: { shards: 9, folder: "x" },
  });
});

test("a section of another service of the product is let pass", () => {
  expect(pluginConfig([mine], { counter: { where: "", values: {} } }, {})).toEqual({ mine: {} });
});

test.each([
  [
    { mime: { where: "f.toml: [mime]", values: {} } },
    "f.toml: [mime]: there is no service mime (did you mean mine?)",
  ],
  [
    { mine: { where: "f.toml: [mine]", values: { shard: 1 } } },
    "f.toml: [mine]: unknown key shard (did you mean shards?): mine knows shards, folder",
  ],
])("an unknown name is an error that says what was meant", (sections, message) => {
  expect(() => pluginConfig([mine], sections, {})).toThrow(message);
});
