import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SystemClock } from "./system.ts";

let near: Socket;
let far: Socket;

beforeEach(async () => {
  const server = createServer((socket) => void (far = socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  near = connect((server.address() as AddressInfo).port);
  await Promise.all([once(near, "connect"), once(server, "connection")]);
  server.close();
});

afterEach(() => {
  near.destroy();
  far.destroy();
});

/** Nothing of this process runs for so long, neither timers nor sockets. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function told(happened: readonly string[], count: number): Promise<void> {
  while (happened.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("a process that stood still reads what has arrived before it finds that time is up", async () => {
  const clock = new SystemClock();
  const happened: string[] = [];
  near.on("data", () => happened.push("answer"));
  clock.after(20, () => happened.push("time is up"));
  far.write("answer");
  standStill(200);
  await told(happened, 2);
  expect(happened).toEqual(["answer", "time is up"]);
});

test("so does one that was busy until the very moment at which time is up", async () => {
  const clock = new SystemClock();
  const happened: string[] = [];
  near.on("data", () => happened.push("answer"));
  clock.after(60, () => happened.push("time is up"));
  far.write("answer");
  standStill(61);
  await told(happened, 2);
  expect(happened).toEqual(["answer", "time is up"]);
});

test("a timer that is cancelled after it came due late does not run", async () => {
  const clock = new SystemClock();
  const happened: string[] = [];
  const timer = clock.after(20, () => happened.push("time is up"));
  near.on("data", () => {
    timer.cancel();
    happened.push("answer");
  });
  far.write("answer");
  standStill(200);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(happened).toEqual(["answer"]);
});

test("a timer is never early", async () => {
  const clock = new SystemClock();
  const early: number[] = [];
  const timers = Array.from({ length: 50 }, (_, n) => {
    const at = clock.now() + n * 0.7;
    return new Promise<void>((resolve) => {
      clock.after(n * 0.7, () => {
        if (clock.now() < at) early.push(n);
        resolve();
      });
    });
  });
  await Promise.all(timers);
  expect(early).toEqual([]);
});

test("nor is one that shares its millisecond with what is due at once", async () => {
  const clock = new SystemClock();
  const early: number[] = [];
  for (let n = 0; n < 50; n++) {
    // Just after a millisecond has begun, so that what is due at once is due long before the next one.
    while (performance.now() % 1 > 0.1);
    clock.after(0, () => undefined);
    const at = clock.now() + 0.8;
    await new Promise<void>((resolve) => {
      clock.after(0.8, () => {
        if (clock.now() < at) early.push(n);
        resolve();
      });
    });
  }
  expect(early).toEqual([]);
});

test("the longest wait that callers may ask for is none that runs at once", async () => {
  const clock = new SystemClock();
  const happened: string[] = [];
  const longest = clock.after(2 ** 31 - 1, () => happened.push("longest"));
  clock.after(100, () => happened.push("ran"));
  await told(happened, 1);
  longest.cancel();
  expect(happened).toEqual(["ran"]);
});

test("timers that are due together run without a turn of the event loop in between", async () => {
  const clock = new SystemClock();
  const happened: string[] = [];
  for (const name of ["a", "b", "c"])
    clock.after(20, () => {
      happened.push(name);
      queueMicrotask(() => happened.push(`after ${name}`));
    });
  standStill(60);
  await told(happened, 6);
  expect(happened).toEqual(["a", "b", "c", "after a", "after b", "after c"]);
});

test("one that throws does not keep the others from running", async () => {
  const clock = new SystemClock();
  const happened: string[] = [];
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.once("uncaughtException", (error) => happened.push(error.message));
  try {
    clock.after(20, () => {
      throw new Error("thrown");
    });
    clock.after(20, () => happened.push("ran"));
    standStill(60);
    await told(happened, 2);
  } finally {
    for (const listener of listeners) process.on("uncaughtException", listener);
  }
  expect(happened).toEqual(["thrown", "ran"]);
});

test("a timer that is cancelled does not run, and leaves the others of its millisecond alone", async () => {
  const clock = new SystemClock();
  const happened: string[] = [];
  const timer = clock.after(20, () => happened.push("cancelled"));
  clock.after(20, () => happened.push("ran"));
  timer.cancel();
  timer.cancel();
  await told(happened, 1);
  expect(happened).toEqual(["ran"]);
});
