/** Schedules in the engine, with real cron and real zones, while clocks change: the zone's own, and the machine's when somebody sets it. */
import { describe, expect, test } from "vitest";
import { Engine, Queries, type ScheduleSpec } from "../engine/index.ts";
import { cronAlgorithm } from "./cron-algorithm.ts";

const HOUR_MS = 3_600_000;

class Scene {
  readonly #engine = new Engine({ random: () => 0.5, rates: undefined, cron: cronAlgorithm }, {});
  readonly #queries = new Queries(this.#engine.state, HOUR_MS);
  #wallMs: number;
  #monoMs = 0;

  constructor(wallMs: number, cron: string, timeZone: string, missed: ScheduleSpec["missed"] = "once") {
    this.#wallMs = wallMs;
    this.#engine.start(this.#now());
    const job = { group: "g", payload: new Uint8Array(0) };
    const schedule = { id: "s", tenant: "t", cron, timeZone, missed, job };
    this.#engine.apply({ kind: "putSchedule", schedule }, this.#now());
  }

  /** Time passes minute by minute, as the engine's timer lets it. */
  pass(ms: number): void {
    for (const until = this.#monoMs + ms; this.#monoMs < until;) {
      const step = Math.min(60_000, until - this.#monoMs);
      this.#wallMs += step;
      this.#monoMs += step;
      this.tick();
    }
  }

  /** Somebody sets the clock, or nobody served for a while. */
  jump(ms: number): void {
    this.#wallMs += ms;
    this.tick();
  }

  tick(): void {
    this.#engine.apply({ kind: "tick" }, this.#now());
  }

  /** The times whose jobs were made, oldest first. */
  get runs(): string[] {
    return this.#queries
      .list({ tenant: "t", limit: 1_000 })
      .map(({ spec }) => Number(spec.id.split("@")[1]))
      .sort((a, b) => a - b)
      .map((at) => new Date(at).toISOString().slice(0, 16));
  }

  #now(): { wallMs: number; monoMs: number } {
    return { wallMs: this.#wallMs, monoMs: this.#monoMs };
  }
}

describe("when the zone's clock changes", () => {
  test("a daily run at a time that is skipped comes when the gap ends, once", () => {
    // In Berlin 2:30 does not exist on 29 March 2026.
    const scene = new Scene(Date.UTC(2026, 2, 28, 0), "30 2 * * *", "Europe/Berlin");
    scene.pass(72 * HOUR_MS);
    expect(scene.runs).toEqual(["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"]);
  });

  test("a daily run at a time that comes twice is made once", () => {
    // In Berlin 2:30 comes twice on 25 October 2026.
    const scene = new Scene(Date.UTC(2026, 9, 24, 0), "30 2 * * *", "Europe/Berlin");
    scene.pass(72 * HOUR_MS);
    expect(scene.runs).toEqual(["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"]);
  });
});

describe("when the machine's clock is set", () => {
  const NOON = Date.UTC(2026, 5, 1, 12);

  test("back, no run is made twice, and the next one comes at its time", () => {
    const scene = new Scene(NOON, "0 * * * *", "UTC");
    scene.pass(2 * HOUR_MS);
    scene.jump(-1.5 * HOUR_MS);
    scene.pass(3 * HOUR_MS);
    expect(scene.runs).toEqual(["2026-06-01T13:00", "2026-06-01T14:00", "2026-06-01T15:00"]);
  });

  test.each<[ScheduleSpec["missed"], string[]]>([
    ["skip", ["13:00", "17:00"]],
    ["once", ["13:00", "16:00", "17:00"]],
    ["all", ["13:00", "14:00", "15:00", "16:00", "17:00"]],
  ])("forward, or nobody served, the missed runs are made up for as %s says", (missed, runs) => {
    const scene = new Scene(NOON, "0 * * * *", "UTC", missed);
    scene.pass(HOUR_MS);
    scene.jump(3.5 * HOUR_MS);
    scene.pass(HOUR_MS);
    expect(scene.runs).toEqual(runs.map((time) => `2026-06-01T${time}`));
  });
});
