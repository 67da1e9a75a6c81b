/** Gubernator's V1 as the fleet serves it, over gRPC; and a fleet whose rate limits are asked of another fleet's V1, as they would be of a Gubernator. */
import { connectJobs } from "@keelson/jobs";
import { decodeAnswers, encodeRateLimits, V1_SERVICE } from "@keelson/jobs/gubernator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";
import { SiloClient } from "./silo-client.ts";

type Request = Parameters<typeof encodeRateLimits>[0][number];

const [TOKEN, LEAKY] = [0, 1];
const FLAGS = { noBatching: 1, global: 2, gregorian: 4, reset: 8, multiRegion: 16, drain: 32 };
/** A caller may say when it asked, so little here has to wait. */
const T0 = Date.now();

let served: JobsGateway;
let client: SiloClient;
beforeAll(async () => {
  served = await JobsGateway.start();
  client = new SiloClient(served.gateway.grpcAddress ?? "");
}, 60_000);
afterAll(async () => {
  client.close();
  await served.stop();
});

let keys = 0;
function request(given: Partial<Request>): Request {
  const common = { name: "n", uniqueKey: `k${keys}`, hits: 1, limit: 10, duration: 30_000 };
  return { ...common, algorithm: TOKEN, behaviour: 0, burst: 0, createdAtMs: T0, ...given };
}

async function ask(...requests: Request[]) {
  const answer = await client.raw(`/${V1_SERVICE}/GetRateLimits`, encodeRateLimits(requests));
  if (answer instanceof Error) throw answer;
  return decodeAnswers(answer);
}

describe("each algorithm and behaviour counts as upstream documents it", () => {
  /** What each request adds to the case's; then remaining and status of each answer. */
  test.each<[string, Partial<Request>, readonly Partial<Request>[], readonly (readonly [number, number])[]]>([
    [
      "a token bucket",
      { limit: 2 },
      [{}, {}, {}],
      [
        [1, 0],
        [0, 0],
        [0, 1],
      ],
    ],
    [
      "a peek",
      {},
      [{ hits: 4 }, { hits: 0 }],
      [
        [6, 0],
        [6, 0],
      ],
    ],
    [
      "hits that come back",
      {},
      [{ hits: 4 }, { hits: -2 }],
      [
        [6, 0],
        [8, 0],
      ],
    ],
    [
      "an over-ask",
      {},
      [{ hits: 8 }, { hits: 3 }, { hits: 2 }],
      [
        [2, 0],
        [2, 1],
        [0, 0],
      ],
    ],
    [
      "an over-ask that drains",
      { behaviour: FLAGS.drain },
      [{ hits: 8 }, { hits: 3 }, { hits: 0 }],
      [
        [2, 0],
        [0, 1],
        [0, 0],
      ],
    ],
    [
      "a reset",
      {},
      [{ hits: 9 }, { behaviour: FLAGS.reset }, {}],
      [
        [1, 0],
        [10, 0],
        [9, 0],
      ],
    ],
    [
      "a year of the calendar",
      { behaviour: FLAGS.gregorian, duration: 5, limit: 1 },
      [{}, {}],
      [
        [0, 0],
        [0, 1],
      ],
    ],
    [
      "a leaky bucket",
      { algorithm: LEAKY },
      [{ hits: 10 }, {}, { createdAtMs: T0 + 3_000, hits: 0 }],
      [
        [0, 0],
        [0, 1],
        [1, 0],
      ],
    ],
    [
      "a leaky bucket with a burst",
      { algorithm: LEAKY, burst: 20 },
      [{ hits: 15 }, { hits: 5 }, {}],
      [
        [5, 0],
        [0, 0],
        [0, 1],
      ],
    ],
    [
      "a changed limit",
      {},
      [{ hits: 4 }, { limit: 15, hits: 0 }],
      [
        [6, 0],
        [11, 0],
      ],
    ],
    [
      "a changed algorithm",
      {},
      [{ hits: 4 }, { algorithm: LEAKY }],
      [
        [6, 0],
        [9, 0],
      ],
    ],
    [
      "flags about where it is counted",
      { behaviour: FLAGS.noBatching + FLAGS.global + FLAGS.multiRegion },
      [{ hits: 4 }, { hits: 6 }, {}],
      [
        [6, 0],
        [0, 0],
        [0, 1],
      ],
    ],
  ])("%s", async (_, given, steps, expected) => {
    keys += 1;
    const found: (readonly [number, number])[] = [];
    for (const step of steps) {
      const [answer] = await ask(request({ ...given, ...step }));
      expect(answer?.error).toBe("");
      found.push([answer!.remaining, answer!.status]);
    }
    expect(found).toEqual(expected);
  });
});

test("a token bucket is full again in its next window", async () => {
  keys += 1;
  const hit = async () => (await ask(request({ limit: 1, duration: 1_000, createdAtMs: undefined })))[0];
  expect(await hit()).toMatchObject({ remaining: 0, status: 0 });
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(await hit()).toMatchObject({ remaining: 0, status: 0 });
});

test("one call takes many limits, answers in order, and says of each what is wrong with it", async () => {
  keys += 1;
  const many = Array.from({ length: 200 }, (_, index) =>
    request({ uniqueKey: `many-${index}`, limit: index + 1 }),
  );
  const answers = await ask(...many, request({ uniqueKey: "" }), request({ algorithm: 7 }));
  expect(answers.slice(0, 200).map(({ remaining }) => remaining)).toEqual(many.map((_, index) => index));
  expect(answers.slice(200).map(({ error }) => error)).toEqual([
    "field 'unique_key' cannot be empty",
    "invalid rate limit algorithm '7'",
  ]);
});

test("more than a thousand at once are refused, and malformed messages too", async () => {
  const path = `/${V1_SERVICE}/GetRateLimits`;
  const many = Array.from({ length: 1_001 }, () => request({}));
  expect(await client.raw(path, encodeRateLimits(many))).toMatchObject({ code: 11 });
  expect(await client.raw(path, Buffer.from([0xff, 0xff]))).toMatchObject({ code: 13 });
});

test("the fleet is healthy", async () => {
  const answer = await client.raw(`/${V1_SERVICE}/HealthCheck`, Buffer.alloc(0));
  expect(Buffer.isBuffer(answer) && answer.toString("latin1")).toContain("healthy");
});

test("in JSON, numbers may be texts, flags names, and what is missing is said in the answer", async () => {
  const requests = [
    { name: "json", unique_key: "a", hits: "2", limit: "10", duration: "60000" },
    { name: "json", uniqueKey: "a", hits: 100, limit: 10, duration: 60_000, behavior: "DRAIN_OVER_LIMIT" },
    {
      name: "json",
      unique_key: "b",
      hits: 1,
      limit: 3,
      duration: 60_000,
      algorithm: "LEAKY_BUCKET",
      created_at: 0,
    },
    { name: "json", hits: 1, limit: 10, duration: 60_000 },
  ];
  const answer = await served.call("POST", "/v1/GetRateLimits", { requests });
  expect(answer).toMatchObject({
    status: 200,
    body: {
      responses: [
        { status: "UNDER_LIMIT", remaining: "8" },
        { status: "OVER_LIMIT", remaining: "0" },
        { status: "UNDER_LIMIT", remaining: "2" },
        { error: "field 'unique_key' cannot be empty" },
      ],
    },
  });
  expect(await served.call("GET", "/v1/HealthCheck")).toMatchObject({
    status: 200,
    body: { status: "healthy", peer_count: 4 },
  });
  const odd = [{ name: "n", unique_key: "k", behavior: "NO_SUCH" }];
  expect((await served.call("POST", "/v1/GetRateLimits", { requests: odd })).status).toBe(400);
});

test("a fleet that is told of a Gubernator asks it, and its jobs keep to the limit", async () => {
  const other = await JobsGateway.start({}, { gubernator: served.gateway.grpcAddress ?? "" });
  const jobs = await connectJobs({ nodes: [other.address] });
  try {
    let ran = 0;
    jobs.worker("rated", () => (ran += 1), { concurrency: 10 });
    const backoff = { initialMs: 50, maxMs: 200, factor: 2 };
    const limit = {
      kind: "rate",
      name: "outside",
      uniqueKey: "k",
      limit: 3,
      durationMs: 3_600_000,
      hits: 1,
      algorithm: TOKEN,
      behavior: 0,
      burst: 0,
      backoff,
    } as const;
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, id) => jobs.enqueue({ group: "rated", id: `r${id}`, limits: [limit] })),
    );
    expect(made).toHaveLength(6);
    for (const until = performance.now() + 30_000; ran < 3 && performance.now() < until;)
      await new Promise((resolve) => setTimeout(resolve, 50));
    // Those that were refused come back when the hour is over; what has run by then is what the limit allows.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(ran).toBe(3);
    const [peek] = await ask(
      request({
        name: "outside",
        uniqueKey: "k",
        hits: 0,
        limit: 3,
        duration: 3_600_000,
        createdAtMs: Date.now(),
      }),
    );
    expect(peek).toMatchObject({ remaining: 0, limit: 3, error: "" });
  } finally {
    await jobs.close({ graceMs: 0 });
    await other.stop();
  }
}, 90_000);
