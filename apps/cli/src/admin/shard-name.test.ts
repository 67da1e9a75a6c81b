import { expect, test } from "vitest";
import { parseShardName, segment } from "./shard-name.ts";

test("a shard is service and id, perhaps with its replica, and ids may be anything", () => {
  expect(parseShardName("counter/7")).toEqual({ service: "counter", shard: "7", replica: undefined });
  expect(parseShardName("code/a%2Fb%20c/1")).toEqual({ service: "code", shard: "a/b c", replica: 1 });
  expect(parseShardName(`code/${segment("x/y")}`).shard).toBe("x/y");
});

test.each(["7", "", "/7", "counter/", "a/b/c/d", "a/b/x", "a/%E0%A4%A"])(
  "%j is refused with an example",
  (text) => {
    expect(() => parseShardName(text)).toThrow(/write service\/shard|percent-code/);
  },
);
