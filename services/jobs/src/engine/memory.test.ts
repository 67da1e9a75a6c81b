import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { encodeBody } from "./codec/body.ts";
import { EngineScene } from "./engine-scene.ts";
import type { PlainJob } from "./model/job-spec.ts";

const JOBS = 100_000;
const PAYLOAD = Buffer.alloc(100, 7);
/** Seen: 506 with a payload of 100 bytes and an id of 36. The rest is room for other versions of V8, not for another object a job. */
const BYTES_PER_JOB_MAX = 600;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("100,000 jobs that wait take a bounded number of bytes each", () => {
  const scene = new EngineScene();
  const before = heapBytes();
  for (let from = 0; from < JOBS; from += 1_000) {
    const jobs = Array.from({ length: 1_000 }, (_, at) => jobOf(from + at));
    scene.engine.apply({ kind: "add", jobs }, scene);
  }
  const bytesPerJob = (heapBytes() - before) / JOBS;
  expect(scene.engine.state.counts.scheduled).toBe(JOBS);
  expect(bytesPerJob).toBeGreaterThan(PAYLOAD.length);
  expect(bytesPerJob).toBeLessThan(BYTES_PER_JOB_MAX);
});

/** Strings of their own, as they come from the network. */
function jobOf(index: number): PlainJob {
  const id = Buffer.from(`00000000-0000-7000-8000-${String(index).padStart(12, "0")}`).toString();
  return { id, tenant: "t", group: "g", priority: 50, body: encodeBody({ group: "g", payload: PAYLOAD }) };
}
