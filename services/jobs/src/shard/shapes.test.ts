import { expect, test } from "vitest";
import { bodyOf, commandOf } from "./shapes.ts";

const payload = Buffer.from("p");
const job = { id: "j", tenant: "t", group: "g", payload };
const schedule = {
  id: "s",
  tenant: "t",
  cron: "* * * * *",
  timeZone: "UTC",
  missed: "once",
  job: { group: "g", payload },
};

test.each([
  [{ kind: "enqueue", jobs: [job] }],
  [
    {
      kind: "enqueue",
      jobs: [
        { ...job, limits: [{ kind: "concurrency", key: "k", max: 1 }], after: ["a"], metadata: { a: "b" } },
      ],
    },
  ],
  [{ kind: "report", reports: [{ task: 1, outcome: { kind: "failed", code: "X", data: payload } }] }],
  [{ kind: "putSchedule", schedule }],
  [{ kind: "setTenant", tenant: "t", paused: true }],
])("%j is a command", (body) => {
  expect(commandOf(body)).toBe(body);
});

test.each([
  [undefined],
  [null],
  ["enqueue"],
  [{ kind: "tick" }],
  [{ kind: "constructor" }],
  [{ kind: "enqueue" }],
  [{ kind: "enqueue", jobs: {} }],
  [{ kind: "enqueue", jobs: [null] }],
  [{ kind: "enqueue", jobs: [{ ...job, payload: "text" }] }],
  [{ kind: "enqueue", jobs: [{ ...job, priority: "5" }] }],
  [{ kind: "enqueue", jobs: [{ ...job, limits: [{ kind: "toString" }] }] }],
  [{ kind: "enqueue", jobs: [{ ...job, limits: [{ kind: "concurrency", key: 1, max: 1 }] }] }],
  [{ kind: "enqueue", jobs: [{ ...job, after: [1] }] }],
  [{ kind: "enqueue", jobs: [{ ...job, metadata: ["a"] }] }],
  [{ kind: "report", reports: [{ task: 1, outcome: { kind: "succeeded" } }] }],
  [{ kind: "putSchedule", schedule: { ...schedule, missed: "never" } }],
  [{ kind: "heartbeat", worker: "w", tasks: ["1"] }],
])("%j is refused before the engine sees it", (body) => {
  expect(() => commandOf(body)).toThrow(expect.objectContaining({ code: "INVALID" }));
});

test.each([
  ["work", { session: "s", worker: "w", group: "g" }],
  ["ack", { session: "s", worker: "w", reports: [["1"]], credit: 0 }],
  ["results", { jobs: [{ tenant: "t" }] }],
  ["list", { tenant: "t", limit: 10, status: "lost" }],
  ["split", { at: "zz" }],
  ["rates", { requests: [{ name: "n" }] }],
] as const)("a body of %s with the wrong shape is refused", (what, body) => {
  expect(() => bodyOf(what, body)).toThrow(expect.objectContaining({ code: "INVALID" }));
});
