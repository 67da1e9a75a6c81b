/**
 * The storage core under faults drawn from seeds: calls to objects and pages fail before or after they were carried out, checkpoints are cut anywhere, and the shard is
 * taken over by the next opener at any moment. Whatever was acknowledged is there afterwards; what got no answer may be or not.
 */
import { InterceptedObjects, MemoryObjects } from "@keelson/objects";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import type { Command, CommandKind, JobSpec } from "../engine/index.ts";
import { isRefusal } from "../engine/index.ts";
import { Chance } from "../sim/chance.ts";
import { DurableQueue } from "./durable-queue.ts";
import { MemoryPagesPlace } from "./memory-pages.ts";
import { NodeJournal } from "./node-journal.ts";
import type { Pages } from "./pages.ts";

/** The long form is for days when this code changes: KEELSON_JOBS_QUEUE_SEEDS=1000. */
const SEEDS = Number(process.env["KEELSON_JOBS_QUEUE_SEEDS"] ?? 20);
const LIVES = 6;
const TURNS_MAX = 20_000;
const cron = { problem: () => undefined, next: () => undefined };

/** What must be true of a job, as far as answers told. */
interface Known {
  status: "there" | "succeeded" | "gone" | "unsure";
}

class Scene {
  readonly chance: Chance;
  readonly known = new Map<string, Known>();
  faults = 0;
  crashes = 0;
  readonly #clock = new ManualClock();
  readonly #inner = new MemoryObjects();
  readonly #place = new MemoryPagesPlace();
  #failing = 0;
  #revision = 0;
  #jobs = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  async run(): Promise<void> {
    for (let life = 0; life < LIVES; life += 1) {
      this.#failing = 0;
      const queue = await this.#open();
      await this.#check(queue);
      this.#failing = this.chance.next() * 0.1;
      for (let step = this.chance.whole(5, 40); step > 0 && queue.failure === undefined; step -= 1)
        await this.#step(queue);
      // Left as it is: whoever opens next has to live with what there is.
      this.crashes += 1;
    }
    this.#failing = 0;
    await this.#check(await this.#open());
  }

  async #step(queue: DurableQueue): Promise<void> {
    const { chance } = this;
    switch (chance.whole(0, 6)) {
      case 0:
        await this.#settle(queue.checkpoint());
        return;
      case 1: {
        // Cut anywhere: nobody waits for its end.
        queue.checkpoint().catch(() => undefined);
        return this.#turns(chance.whole(0, 20));
      }
      case 2:
      case 3:
        return this.#work(queue);
      case 4:
        return this.#delete(queue);
      default:
        return this.#enqueue(queue);
    }
  }

  async #enqueue(queue: DurableQueue): Promise<void> {
    const jobs = Array.from({ length: this.chance.whole(1, 4) }, () => specOf(`j${++this.#jobs}`));
    const answers = await this.#execute(queue, { kind: "enqueue", jobs });
    for (const [at, { id }] of jobs.entries())
      this.known.set(id, {
        status: answers === undefined ? "unsure" : isRefusal(answers[at]) ? "unsure" : "there",
      });
  }

  async #work(queue: DurableQueue): Promise<void> {
    const max = this.chance.whole(1, 5);
    const leased = await this.#execute(queue, { kind: "lease", group: "g", worker: "w", max });
    if (leased === undefined || isRefusal(leased)) return;
    const outcome = { kind: "succeeded" as const, result: Buffer.from("ok") };
    const reports = leased.tasks.map(({ task }) => ({ task, worker: "w", outcome }));
    const answers = await this.#execute(queue, { kind: "report", reports });
    for (const [at, { spec }] of leased.tasks.entries())
      if (answers !== undefined && !isRefusal(answers[at])) this.known.set(spec.id, { status: "succeeded" });
  }

  async #delete(queue: DurableQueue): Promise<void> {
    const ended = [...this.known].filter(([, { status }]) => status === "succeeded").map(([id]) => id);
    if (ended.length === 0) return;
    const id = this.chance.pick(ended);
    const answer = await this.#execute(queue, { kind: "delete", tenant: "t", id });
    if (answer === undefined) this.known.set(id, { status: "unsure" });
    else if (!isRefusal(answer)) this.known.set(id, { status: "gone" });
  }

  async #check(queue: DurableQueue): Promise<void> {
    for (const [id, { status }] of this.known) {
      const found = (await this.#settle(queue.get({ tenant: "t", id })))?.status ?? "gone";
      const isRight = status === "there" ? found !== "gone" : status === "unsure" || found === status;
      if (!isRight) throw new Error(`${id} was acknowledged as ${status} and is ${found}`);
    }
  }

  /** Undefined: nobody knows. */
  async #execute<K extends CommandKind>(queue: DurableQueue, command: Command<K>) {
    return this.#settle(queue.execute(command));
  }

  async #open(): Promise<DurableQueue> {
    const objects = new InterceptedObjects(this.#inner, (_, __, apply) => this.#perhaps(apply));
    const epoch = () => ({ era: 1, revision: ++this.#revision });
    // Sometimes the same node comes back, sometimes another takes over.
    const name = `node/${this.chance.pick(["a", "b"])}`;
    const opening = (async () => {
      const journal = await NodeJournal.open({
        objects,
        name,
        epoch: epoch(),
        clock: this.#clock,
        random: this.chance.next,
        terms: { gatherMs: 0 },
      });
      return DurableQueue.open({
        shard: "s",
        epoch: epoch(),
        pages: this.#pages(),
        journal,
        objects,
        clock: this.#clock,
        random: this.chance.next,
        rates: undefined,
        cron,
      });
    })();
    const queue = await this.#settle(opening);
    // Rejects with why.
    if (queue === undefined) return opening;
    return queue;
  }

  #pages(): Pages {
    const pages = this.#place.open();
    return {
      get: (key) => pages.get(key),
      scan: (prefix, options) => pages.scan(prefix, options),
      write: (batch) => this.#perhaps(() => pages.write(batch)),
      close: () => pages.close(),
    };
  }

  /** Fails now and then, before it was carried out or after. */
  async #perhaps<T>(apply: () => Promise<T>): Promise<T> {
    if (!this.chance.yes(this.#failing)) return apply();
    this.faults += 1;
    if (this.chance.yes(0.5)) await apply();
    throw new Error("as drawn");
  }

  /** Moves time on until it is settled; undefined when it failed. */
  async #settle<T>(promise: Promise<T>): Promise<T | undefined> {
    let done = false;
    const settled = promise.then(
      (value) => value,
      () => undefined,
    );
    void settled.then(() => (done = true));
    for (let turn = 0; turn < TURNS_MAX && !done; turn += 1) await this.#turns(1);
    if (!done) throw new Error("it was not settled");
    return settled;
  }

  async #turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#clock.advance(1);
    }
  }
}

function specOf(id: string): JobSpec {
  return { id, tenant: "t", group: "g", payload: Buffer.from(id) };
}

test(
  "what was acknowledged survives failing objects, failing pages and takeovers, over some seeds",
  async () => {
    let [faults, crashes] = [0, 0];
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const scene = new Scene(seed);
      try {
        await scene.run();
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
      faults += scene.faults;
      crashes += scene.crashes;
    }
    expect(faults).toBeGreaterThan(SEEDS);
    expect(crashes).toBe(SEEDS * LIVES);
  },
  120_000 + SEEDS * 2_000,
);
