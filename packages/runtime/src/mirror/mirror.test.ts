import { beforeEach, expect, test } from "vitest";
import { terms, type Store } from "@keelson/kernel";
import { ManualClock, TestFleet } from "@keelson/testkit";
import { fleetMirror } from "./fleet-mirror.ts";
import type { Mirror } from "./mirror.ts";

const KEY = "/keelson/f/member/a";
let store: Store;
let mirror: Mirror;

beforeEach(() => {
  const ports = { clock: new ManualClock(), random: () => 0.5 };
  store = new TestFleet({ services: [], ...ports }).store;
  mirror = fleetMirror("f", { store, ...ports }, terms());
});

async function put(value: string): Promise<void> {
  const { incarnation } = await store.range("/", { limit: 1, timeoutMs: 100 });
  await store.commit(
    { guards: [], writes: [{ kind: "put", key: KEY, value }] },
    { incarnation, timeoutMs: 100 },
  );
  await settle();
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** What a listener heard. */
function listen(): { heard: string[]; end: () => void } {
  const heard: string[] = [];
  const end = mirror.subscribe({
    changed: (changes) => heard.push(...changes.map(({ entry }) => entry?.value ?? "gone")),
    listed: (fallen) => heard.push(fallen ? "fallen" : "listed"),
  });
  return { heard, end };
}

test("who subscribes late is told at once what is known, and then what changes, like everybody else", async () => {
  const early = listen();
  mirror.start();
  await settle();
  await put("1");
  const late = listen();
  expect([early.heard, late.heard]).toEqual([
    ["listed", "1"],
    ["listed", "1"],
  ]);
  await put("2");
  expect([early.heard, late.heard]).toEqual([
    ["listed", "1", "2"],
    ["listed", "1", "2"],
  ]);
  mirror.stop();
});

test("an answer with less than was known when its question was sent makes it list again, and a late answer does not", async () => {
  const { heard } = listen();
  mirror.start();
  await settle();
  const knownBefore = mirror.image.revision;
  await put("1");
  mirror.notice(knownBefore, knownBefore);
  await settle();
  expect(heard).toEqual(["listed", "1"]);
  mirror.notice(mirror.image.revision - 1, mirror.image.revision);
  await settle();
  expect(heard).toEqual(["listed", "1", "listed"]);
  mirror.stop();
});

test("who has ended its subscription hears nothing more, and the others do", async () => {
  const [first, second] = [listen(), listen()];
  mirror.start();
  await settle();
  first.end();
  await put("1");
  expect([first.heard, second.heard]).toEqual([["listed"], ["listed", "1"]]);
  mirror.stop();
});
