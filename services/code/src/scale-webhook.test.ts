import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ManualClock } from "@keelson/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FleetFacts, ScaleWish } from "./autoscale.ts";
import { ScaleWebhook } from "./scale-webhook.ts";

const FACTS = {} as FleetFacts;
const UP: ScaleWish = { direction: "up", signals: ["saturation"], reasons: ["95 % of the memory is taken"] };
const DOWN: ScaleWish = { direction: "down", signals: ["quiet"], reasons: ["quiet"] };
const clock = new ManualClock();
let server: Server;
let webhook: ScaleWebhook;
/** What the receiver heard, and what it answers. */
let heard: string[];
let said: string[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  heard = [];
  said = [];
  answer = (response) => response.end();
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      heard.push((JSON.parse(text) as { wish: string }).wish);
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  webhook = new ScaleWebhook({ clock, url, log: (message) => said.push(message) });
});
afterEach(() => {
  webhook.stop();
  server.closeAllConnections();
  server.close();
});

/** A look every second, as often as that; each try has been answered before the next look. */
async function look(wish: ScaleWish, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const before = said.length;
    webhook.tell(wish, FACTS);
    // A try that failed is told of when it has.
    if (said.length > before) await vi.waitUntil(() => said.length > before + 1, { timeout: 10_000 });
    await clock.advance(1_000);
  }
}

test("a receiver that refuses is asked again with growing pauses, and hears another wish at once", async () => {
  answer = (response) => response.writeHead(500).end("no");
  await look(UP, 60);
  // After 1, 2, 4, 8, and then every 15 s.
  expect(heard).toEqual(["up", "up", "up", "up", "up", "up", "up"]);
  await look(DOWN, 1);
  expect(heard.at(-1)).toBe("down");
});

test("a receiver that is slow is waited for by nobody, and not asked twice at once", async () => {
  const waiting: ServerResponse[] = [];
  answer = (response) => waiting.push(response);
  for (let i = 0; i < 30; i++) {
    webhook.tell(UP, FACTS);
    await clock.advance(1_000);
  }
  await vi.waitUntil(() => waiting.length > 0, { timeout: 10_000 });
  expect(heard).toEqual(["up"]);
});

test("a wish that was heard is told once, and again after minutes while it stands", async () => {
  const until = async (wish: ScaleWish, times: number): Promise<void> => {
    const isHeard = async (): Promise<boolean> => {
      webhook.tell(wish, FACTS);
      await clock.advance(10_000);
      return heard.length >= times;
    };
    await vi.waitUntil(isHeard, { timeout: 20_000, interval: 1 });
  };
  await until(UP, 1);
  await until(DOWN, 2);
  const since = clock.now();
  await until(DOWN, 3);
  expect(clock.now() - since).toBeGreaterThanOrEqual(290_000);
  expect(heard).toEqual(["up", "down", "down"]);
});
