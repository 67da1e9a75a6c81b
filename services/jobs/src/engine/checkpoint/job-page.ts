/** A page of active jobs as bytes, and back. */
import { readStoredJob, storeJob, writeStoredJob, type StoredJob } from "../codec/stored-job.ts";
import { readList, writeList } from "../codec/body.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import type { JobPage } from "../state/job-pages.ts";

const scratch = new ByteWriter(256 * 1024);

export function encodeJobPage({ jobs }: JobPage): Buffer {
  scratch.clear();
  const stored: StoredJob[] = [];
  for (const job of jobs) if (job !== undefined) stored.push(storeJob(job));
  writeList(scratch, stored, writeStoredJob);
  return scratch.copy();
}

export function decodeJobPage(bytes: Uint8Array): StoredJob[] {
  return readList(new ByteReader(bytes), readStoredJob);
}
