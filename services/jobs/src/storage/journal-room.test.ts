import { MemoryObjects, type JournalStream } from "@keelson/objects";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { JOB_LIMITS, type Effect } from "../engine/index.ts";
import { Commits } from "./commits.ts";
import { DurableQueue } from "./durable-queue.ts";
import { JournalRoom } from "./journal-room.ts";
import { MemoryPagesPlace } from "./memory-pages.ts";
import { NodeJournal } from "./node-journal.ts";

const cron = { problem: () => undefined, next: () => undefined };
const SHARDS = 6;
/** With payloads as large as they may be: what one request takes. */
const REQUEST_JOBS = (16 * 1024 * 1024) / JOB_LIMITS.payloadBytesMax - 1;

test("shards that are all sent as much as a request takes, twice and at once, all have it, and their journal goes on", async () => {
  const [objects, clock, random] = [new MemoryObjects(), new ManualClock(), () => 0.5];
  const places = Array.from({ length: SHARDS }, () => new MemoryPagesPlace());
  const life = async (revision: number): Promise<[NodeJournal, DurableQueue[]]> => {
    const epoch = { era: 1, revision };
    const terms = { gatherMs: 0 };
    const journal = await NodeJournal.open({ objects, name: "node/a", epoch, clock, random, terms });
    const opened = places.map((place, at) =>
      DurableQueue.open({
        shard: `s${at}`,
        epoch,
        pages: place.open(),
        journal,
        objects,
        clock,
        random,
        cron,
        rates: undefined,
        // No checkpoint comes to the journal's help.
        queueTerms: { checkpointBytes: Infinity },
      }),
    );
    return [journal, await Promise.all(opened)];
  };
  const [journal, queues] = await life(1);
  const payload = Buffer.alloc(JOB_LIMITS.payloadBytesMax, 7);
  const jobs = Array.from({ length: REQUEST_JOBS }, (_, at) => {
    return { id: `j${at}`, tenant: "t", group: "g", payload };
  });
  const more = jobs.map((job) => ({ ...job, id: `more-${job.id}` }));
  const asked = queues.flatMap((queue) => [
    queue.execute({ kind: "enqueue", jobs }),
    queue.execute({ kind: "enqueue", jobs: more }),
  ]);
  for (const answers of await Promise.all(asked))
    expect(answers.every((answer) => "outcome" in answer && answer.outcome === "created")).toBe(true);
  expect(journal.journal.failure).toBeUndefined();
  await Promise.all(queues.map((queue) => queue.close()));
  await journal.close();
  const [, again] = await life(2);
  for (const queue of again) expect(queue.queries.stats().jobs.scheduled).toBe(2 * REQUEST_JOBS);
}, 60_000);

/** A stream whose flushes end when the test says so; all that was appended in between shares one. */
class HeldStream implements JournalStream {
  readonly id = "s";
  readonly epoch = { era: 1, revision: 1 };
  readonly appended: string[] = [];
  #flush: Flush | undefined;

  append(record: Uint8Array): Promise<number> {
    this.appended.push(Buffer.from(record).toString());
    this.#flush ??= withResolvers();
    return this.#flush.promise;
  }

  async end(error?: Error): Promise<void> {
    const flush = this.#flush;
    this.#flush = undefined;
    if (error === undefined) flush?.resolve(1);
    else flush?.reject(error);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Flush {
  readonly promise: Promise<number>;
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
}

function withResolvers(): Flush {
  let resolve!: Flush["resolve"];
  let reject!: Flush["reject"];
  const promise = new Promise<number>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function scene() {
  const stream = new HeldStream();
  const told: string[] = [];
  const room = new JournalRoom(300);
  const commits = new Commits({
    stream,
    room,
    onEffects: (effects) => told.push(...effects.map((effect) => (effect as { group: string }).group)),
    onFailure: (error) => told.push(String(error)),
  });
  const commit = (name: string): void => {
    const effects: Effect[] = [{ kind: "ready", group: name }];
    commits.commit([Buffer.from(name.padEnd(100, "."))], effects);
  };
  return { stream, told, room, commits, commit };
}

test("records that had no room are sent when there is, in order, and so is what they brought about", async () => {
  const { stream, told, room, commits, commit } = scene();
  for (const name of ["a", "b", "c", "d"]) commit(name);
  expect(stream.appended.map((each) => each[0])).toEqual(["a"]);
  expect(room.isOpen).toBe(false);
  expect(commits.inflightBytes).toBe(400);
  await stream.end();
  expect(stream.appended.map((each) => each[0])).toEqual(["a", "b"]);
  await stream.end();
  await stream.end();
  commit("e");
  await stream.end();
  await stream.end();
  expect(told).toEqual(["a", "b", "c", "d", "e"]);
  expect([room.isOpen, commits.inflightBytes]).toEqual([true, 0]);
});

test("what waits for room fails with what was on its way, and leaves the room to others", async () => {
  const { stream, told, room, commits, commit } = scene();
  for (const name of ["a", "b", "c"]) commit(name);
  const durable = commits.durable?.catch((error: unknown) => String(error));
  await stream.end(new Error("no disk"));
  expect(await durable).toBe("Error: no disk");
  expect(told).toEqual(["Error: no disk"]);
  expect(room.isOpen).toBe(true);
  await room.opened();
});
