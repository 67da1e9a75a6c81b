/** All durable state as bytes, the same for equal states. For tests and the simulator: what a replay must give back. */
import { ByteWriter } from "../codec/byte-writer.ts";
import { storeJob, writeStoredJob } from "../codec/stored-job.ts";
import type { Job } from "../state/job.ts";
import type { State } from "../state/state.ts";
import { encodeRest } from "./rest.ts";

export function digestState(state: State): string {
  const out = new ByteWriter(64 * 1024);
  const write = (jobs: Iterable<Job>): void => {
    for (const job of Array.from(jobs).sort((a, b) => a.seq - b.seq)) writeStoredJob(out, storeJob(job));
    out.byte(0);
  };
  write(state.pages.jobs());
  write(state.finished);
  for (const key of Array.from(state.forgotten.keys()).sort()) out.text(key);
  out.bytes(encodeRest(state));
  return out.toBinary();
}
