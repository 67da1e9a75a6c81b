import { expect, test } from "vitest";
import { Incoming } from "./incoming.ts";

const peer = { name: "a", address: "127.0.0.1:1" };

test("whoever listens is told once, unless it has left", () => {
  const incoming = new Incoming(null, 1_000, undefined, peer);
  const told: string[] = [];
  const leaver = (): void => void told.push("left");
  for (let i = 0; i < 20; i += 1) incoming.addEventListener("abort", () => void told.push("told"));
  incoming.addEventListener("abort", leaver);
  incoming.removeEventListener("abort", leaver);
  const { signal } = incoming;
  incoming.abort("CANCELLED", "nobody waits");
  incoming.abort("CANCELLED", "again");
  expect([told.length, new Set(told), incoming.aborted, signal.aborted]).toEqual([
    20,
    new Set(["told"]),
    true,
    true,
  ]);
});
