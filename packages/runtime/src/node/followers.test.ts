import { beforeEach, expect, test } from "vitest";
import { Followers } from "./followers.ts";

interface Told {
  readonly replica: string;
  readonly node: string | undefined;
}

const [a, b] = [{ name: "a" }, { name: "b" }];
const about = (told: Told): Told => told;

let followers: Followers<{ name: string }>;
beforeEach(() => {
  followers = new Followers();
  followers.join("a", a);
  followers.join("b", b);
});

test("a change goes to who follows the replica and to the node that it names, once each, in order", () => {
  followers.follow("s/1/0", a);
  followers.follow("s/1/0", a);
  const changes: Told[] = [
    { replica: "s/1/0", node: "a" },
    { replica: "s/2/0", node: "b" },
    { replica: "s/1/0", node: undefined },
    { replica: "s/3/0", node: "elsewhere" },
  ];
  const sorted = followers.sort(changes, about);
  expect(sorted.get(a)).toEqual([changes[0], changes[2]]);
  expect(sorted.get(b)).toEqual([changes[1]]);
});

test("who has left is told nothing", () => {
  followers.follow("s/1/0", a);
  followers.follow("s/1/0", b);
  followers.leave("a", a);
  const sorted = followers.sort([{ replica: "s/1/0", node: "a" }], about);
  expect([...sorted.keys()]).toEqual([b]);
});

test("a node that was started anew under its name is not told off by its former self", () => {
  const again = { name: "a" };
  followers.join("a", again);
  followers.leave("a", a);
  expect([...followers.sort([{ replica: "s/1/0", node: "a" }], about).keys()]).toEqual([again]);
});
