import { ManualClock } from "@keelson/testkit";
import { describe, expect, test } from "vitest";
import { RouterError } from "./router-error.ts";
import type { RouterAnswer, RouterRequest } from "./router.ts";
import { scatter, type Gathered, type ScatterOptions } from "./scatter.ts";

/** A router whose shards answer their own id after as many milliseconds as told. */
class Shards {
  readonly clock = new ManualClock();
  readonly #takesMs: Readonly<Record<string, number>>;
  underWay = 0;
  most = 0;

  constructor(takesMs: Readonly<Record<string, number>>) {
    this.#takesMs = takesMs;
  }

  call(request: RouterRequest): Promise<RouterAnswer> {
    const { shard, timeoutMs } = request;
    this.most = Math.max(this.most, ++this.underWay);
    return new Promise((resolve, reject) => {
      const takes = this.#takesMs[shard] ?? 0;
      this.clock.after(Math.min(takes, timeoutMs), () => {
        this.underWay -= 1;
        if (takes === 66) reject(new TypeError("bug"));
        else if (takes > timeoutMs)
          reject(new RouterError(request, { code: "TIMEOUT", text: "late", unknown: false }, 1));
        else resolve({ epoch: { era: 1, revision: takes }, body: shard, node: "a", replica: 0, tries: 1 });
      });
    });
  }

  async ask(options: ScatterOptions): Promise<Gathered<string>> {
    const requests = Object.keys(this.#takesMs).map(
      (shard) => ({ service: "s", shard, method: "find", mode: "read", body: "q" }) as const,
    );
    const gathered = scatter(
      this,
      requests,
      (parts) => parts.map((part) => String(part.body)).join(),
      options,
    );
    gathered.catch(() => {});
    await this.clock.advance(10_000);
    return gathered;
  }
}

describe("scatter", () => {
  test("merges all answers in the order of the requests, whichever came first", async () => {
    const gathered = await new Shards({ x: 30, y: 10, z: 20 }).ask({ timeoutMs: 100 });
    expect(gathered).toMatchObject({ value: "x,y,z", partial: false, missing: [] });
    expect(gathered.parts.map((part) => part.epoch.revision)).toEqual([30, 10, 20]);
  });

  test("lists what did not answer in time, and says that the answer is partial", async () => {
    const gathered = await new Shards({ x: 30, y: 900, z: 20 }).ask({ timeoutMs: 100 });
    expect(gathered).toMatchObject({
      value: "x,z",
      partial: true,
      missing: [{ shard: "y", code: "TIMEOUT", why: "s/y: late" }],
    });
  });

  test("never has more under way than allowed", async () => {
    const shards = new Shards({ a: 10, b: 10, c: 10, d: 10, e: 10 });
    const gathered = await shards.ask({ timeoutMs: 100, concurrencyMax: 2 });
    expect([shards.most, gathered.value]).toEqual([2, "a,b,c,d,e"]);
  });

  test("lists as missing what time did not allow to ask", async () => {
    const gathered = await new Shards({ a: 60, b: 60, c: 60 }).ask({ timeoutMs: 100, concurrencyMax: 1 });
    expect(gathered.value).toBe("a");
    expect(gathered.missing).toEqual([
      { shard: "b", code: "TIMEOUT", why: "s/b: late" },
      {
        shard: "c",
        code: "TIMEOUT",
        why: "time ran out before it was asked: allow more time, or more at once",
      },
    ]);
  });

  test("merges nothing when nothing is asked", async () => {
    expect(await new Shards({}).ask({ timeoutMs: 100 })).toEqual({
      value: "",
      parts: [],
      missing: [],
      partial: false,
    });
  });

  test("does not take a bug for a missing part", async () => {
    await expect(new Shards({ a: 66 }).ask({ timeoutMs: 100 })).rejects.toThrow("bug");
  });
});
