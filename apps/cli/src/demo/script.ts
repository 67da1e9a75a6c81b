/**
 * What happens in the demo, in order: three nodes start, one is killed and its shards are taken over, it comes back, and another is drained, all
 * under a steady stream of requests. Returns what was seen; judging it is the summary's affair.
 */
import { formatDuration } from "../config/duration.ts";
import type { Stage } from "./stage.ts";
import { SERVICE } from "./stage.ts";
import type { Traffic } from "./traffic.ts";

export type Tone = "plain" | "good" | "bad";

export interface Telling {
  say(text: string, tone?: Tone): void;
  /** What is going on now, for the headline. */
  act(title: string): void;
}

/** One thing that was done to the fleet, and what callers noticed of it. */
export interface Act {
  readonly node: string;
  readonly shards: number;
  readonly tookMs: number;
  readonly failed: number;
  /** Why the first of them failed. */
  readonly why: string | undefined;
}

export interface Report {
  readonly kill: Act;
  readonly rejoin: Act;
  readonly drain: Act;
  /** Shards that not exactly one node holds at the end. */
  readonly unheld: readonly string[];
  /** Acknowledged additions that the counters lack at the end; 0 is the promise. */
  readonly lost: number;
  readonly added: number;
}

export class ScriptError extends Error {
  override readonly name = "ScriptError";
}

const LOOK_MS = 10;

export async function play(stage: Stage, traffic: Traffic, ttlMs: number, tell: Telling): Promise<Report> {
  // Longer than any caller waits, so that what one act did to callers is not put down to the next.
  const calmMs = 1.25 * ttlMs;
  tell.act("three nodes start");
  tell.say("a, b and c start: one store in a folder, requests over TCP");
  await Promise.all(["a", "b", "c"].map((name) => stage.start(name)));
  await until(() => stage.allHeld(), 10_000, "every shard is held");
  tell.say(`every shard is held: ${shares(stage)}`, "good");
  traffic.start();
  tell.say("requests begin: one in four adds to a counter");
  await pause(1.5 * calmMs);

  tell.act("b is killed");
  const kill = await watched(traffic, calmMs, "b", () => kills(stage, "b", ttlMs, tell));
  tell.say(`while nobody could serve b's shards, ${failures(kill)}`);

  tell.act("b comes back");
  const rejoin = await watched(traffic, calmMs, "b", () => rejoins(stage, "b", tell));
  tell.say(`moving shards to b: ${failures(rejoin)}`, tone(rejoin));

  tell.act("c is drained");
  const drain = await watched(traffic, calmMs, "c", () => drains(stage, "c", tell));
  tell.say(`draining c: ${failures(drain)}`, tone(drain));

  tell.act("the counters are checked");
  await traffic.stop();
  const { lost, added } = await audit(stage, traffic);
  const unheld = stage.shards.filter((shard) => stage.holders(shard).length !== 1);
  return { kill, rejoin, drain, unheld, lost, added };
}

/** Plays one act, lets it calm down, and counts the callers whose requests it made fail. `act` returns how many shards it was about. */
async function watched(
  traffic: Traffic,
  calmMs: number,
  node: string,
  act: () => Promise<number>,
): Promise<Act> {
  const from = performance.now();
  const shards = await act();
  const to = performance.now();
  await pause(calmMs);
  const failed = traffic.failedBetween(from, to);
  return { node, shards, tookMs: to - from, failed: failed.length, why: failed[0]?.why };
}

async function kills(stage: Stage, node: string, ttlMs: number, tell: Telling): Promise<number> {
  const shards = heldBy(stage, node);
  const from = performance.now();
  tell.say(
    `${node} is killed: nobody may take its ${shards.length} shards before its session has ended`,
    "bad",
  );
  await stage.kill(node);
  await until(
    () => shards.every((shard) => stage.named(shard) !== node),
    10 * ttlMs,
    `${node}'s session ends`,
  );
  tell.say(`${node}'s session has ended, ${seconds(performance.now() - from)} after the kill`);
  await until(() => stage.allHeld(), 10_000, "every shard is held again");
  tell.say(
    `its shards are taken over, ${seconds(performance.now() - from)} after the kill: ${shares(stage)}`,
    "good",
  );
  return shards.length;
}

async function rejoins(stage: Stage, node: string, tell: Telling): Promise<number> {
  tell.say(`${node} starts again, and is handed its share`);
  await stage.start(node);
  await until(() => heldBy(stage, node).length > 0, 10_000, `${node} holds shards again`);
  await settled(stage);
  tell.say(`shards have moved to ${node}: ${shares(stage)}`);
  return heldBy(stage, node).length;
}

async function drains(stage: Stage, node: string, tell: Telling): Promise<number> {
  const shards = heldBy(stage, node).length;
  const from = performance.now();
  tell.say(`${node} is told to leave: it hands over its ${shards} shards`);
  await stage.drain(node);
  await until(() => stage.allHeld(), 10_000, "every shard is held");
  tell.say(`${node} has left, ${formatDuration(performance.now() - from)} later: ${shares(stage)}`);
  return shards;
}

/** Asks every counter what it holds, and compares it with what was acknowledged. */
async function audit(stage: Stage, traffic: Traffic): Promise<{ lost: number; added: number }> {
  let lost = 0;
  let added = 0;
  for (const [shard, { acknowledged }] of traffic.ledgers) {
    const { body } = await stage.client.call({
      service: SERVICE,
      shard,
      method: "get",
      mode: "read",
      body: undefined,
      timeoutMs: 5_000,
    });
    lost += Math.max(0, acknowledged - Number(body));
    added += acknowledged;
  }
  return { lost, added };
}

function heldBy(stage: Stage, node: string): string[] {
  return stage.shards.filter((shard) => stage.holders(shard).includes(node));
}

/** Waits until nothing has moved for a while. */
async function settled(stage: Stage): Promise<void> {
  let last = "";
  let since = performance.now();
  await until(
    () => {
      const now = stage.shards.map((shard) => stage.holders(shard).join("+")).join(" ");
      if (now !== last) since = performance.now();
      last = now;
      return stage.allHeld() && performance.now() - since > 500;
    },
    20_000,
    "shards stop moving",
  );
}

function shares(stage: Stage): string {
  const running = [...stage.states].filter(([, state]) => state === "up").map(([name]) => name);
  return running.map((name) => `${name} ${heldBy(stage, name).length}`).join(", ");
}

function failures(act: Act): string {
  return act.failed === 0 ? "no request failed" : `${act.failed} requests failed`;
}

function tone(act: Act): Tone {
  return act.failed === 0 ? "good" : "bad";
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function until(done: () => boolean, withinMs: number, what: string): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!done()) {
    if (performance.now() > deadline)
      throw new ScriptError(`waited ${seconds(withinMs)} in vain until ${what}`);
    await pause(LOOK_MS);
  }
}
