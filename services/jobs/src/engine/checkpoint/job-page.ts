/** A page of active jobs as bytes, and back: in one part as a rule, in several when its jobs are large. */
import { readStoredJob, storedBytes, storeJob, writeStoredJob, type StoredJob } from "../codec/stored-job.ts";
import { readList, writeList } from "../codec/body.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import type { JobPage } from "../state/job-pages.ts";

/** A part has no more, unless it is one job. What stores pages is made for values of tens of kilobytes. */
const PART_BYTES = 256 * 1024;

const scratch = new ByteWriter(PART_BYTES);

/** One part at least: an empty page says that it is. */
export function encodeJobPage({ jobs }: JobPage): Buffer[] {
  const parts: Buffer[] = [];
  let some: StoredJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    if (job === undefined) continue;
    const stored = storeJob(job);
    const more = storedBytes(stored);
    if (some.length > 0 && bytes + more > PART_BYTES) {
      parts.push(encodePart(some));
      some = [];
      bytes = 0;
    }
    some.push(stored);
    bytes += more;
  }
  if (some.length > 0 || parts.length === 0) parts.push(encodePart(some));
  return parts;
}

function encodePart(jobs: readonly StoredJob[]): Buffer {
  scratch.clear();
  writeList(scratch, jobs, writeStoredJob);
  return scratch.copy();
}

/** Of one part. */
export function decodeJobPage(bytes: Uint8Array): StoredJob[] {
  return readList(new ByteReader(bytes), readStoredJob);
}
