/**
 * Gives the batches of a journal in objects again, in order. A few objects are read ahead, bounded in number and bytes, because a journal on S3 has many small
 * ones and each takes a round trip. Large ones that hold nothing of the wanted stream are told from their index and not read further.
 */
import type { Epoch } from "@keelson/kernel";
import type { Objects } from "../../contract.ts";
import type { JournalBatch } from "../contract.ts";
import { JournalError } from "../errors.ts";
import { BATCH_HEAD_BYTES, batchLength, decodeBatch, headLength, holdsWanted } from "../format/batch.ts";
import { FenceMap } from "../format/fences.ts";
import { HEADER_BYTES } from "../format/segment-header.ts";
import { JournalObjects, type Segment, type Slot } from "./segments.ts";
import { readTail } from "./tail.ts";

export interface ObjectReplayOptions {
  readonly objects: Objects;
  readonly name: string;
  /** The first sequence to give; all there is when not given. */
  readonly from?: number | undefined;
  /** Undefined for all streams. */
  readonly stream?: string | undefined;
  readonly timeoutMs: number;
}

const AHEAD_MAX = 16;
const AHEAD_BYTES_MAX = 32 * 1024 * 1024;
/** Reading less than this apart saves nothing. */
const SKIM_FROM_BYTES = 256 * 1024;

/** A segment that is read, or being read; "skip" has nothing wanted in it. */
interface Reading {
  readonly slot: Slot;
  readonly segment: Promise<Segment | "skip" | undefined>;
}

export async function* replayObjects(options: ObjectReplayOptions): AsyncGenerator<JournalBatch> {
  const { timeoutMs } = options;
  const journal = new JournalObjects(options.objects, options.name);
  const floor = await journal.floor({ timeoutMs });
  if (options.from !== undefined && options.from < floor) throw trimmed(journal, options.from, floor);
  const wanted = (stream: string): boolean => options.stream === undefined || stream === options.stream;
  const fences = new FenceMap();
  let expected = Math.max(options.from ?? 1, floor, 1);
  for (let repaired = 0; ; repaired = expected) {
    let whole = true;
    for await (const { slot, segment } of readAhead(journal, expected, options, wanted)) {
      const read = slot.sequence === expected ? await segment : undefined;
      whole = read !== undefined;
      if (read === undefined) break;
      expected += 1;
      if (read === "skip") continue;
      if (read.kind !== "data") {
        fences.add(read.fences);
        continue;
      }
      const keep = (stream: string, epoch: Epoch): boolean =>
        wanted(stream) && !fences.refuses(stream, epoch);
      const batch = decodeBatch(read.batch, read.identity, keep);
      if (batch.records.length > 0) yield batch;
    }
    // What is missing was trimmed meanwhile, or left free by a claim that can be filled, or lost.
    const trimmedTo = await journal.floor({ timeoutMs });
    if (trimmedTo > expected) throw trimmed(journal, expected, trimmedTo);
    if (whole) return;
    if (repaired === expected)
      throw new JournalError("JOURNAL_CORRUPT", `${journal.place} is damaged: batch ${expected} is missing`);
    await readTail(journal, timeoutMs);
  }
}

async function* readAhead(
  journal: JournalObjects,
  from: number,
  { timeoutMs, stream }: ObjectReplayOptions,
  wanted: (stream: string) => boolean,
): AsyncGenerator<Reading> {
  const ahead: Reading[] = [];
  let bytes = 0;
  const take = (): Reading => {
    const first = ahead.shift()!;
    bytes -= first.slot.sizeBytes;
    return first;
  };
  for await (const slot of journal.slots(from, { timeoutMs })) {
    while (ahead.length > 0 && (ahead.length >= AHEAD_MAX || bytes + slot.sizeBytes > AHEAD_BYTES_MAX))
      yield take();
    const skim = stream !== undefined && slot.sizeBytes >= SKIM_FROM_BYTES;
    const segment = skim
      ? readIfWanted(journal, slot, timeoutMs, wanted)
      : journal.read(slot.sequence, { timeoutMs });
    // Whoever comes to it is told; nobody may, when the replay is ended early.
    segment.catch(() => {});
    ahead.push({ slot, segment });
    bytes += slot.sizeBytes;
  }
  while (ahead.length > 0) yield take();
}

async function readIfWanted(
  journal: JournalObjects,
  { sequence, sizeBytes }: Slot,
  timeoutMs: number,
  wanted: (stream: string) => boolean,
): Promise<Segment | "skip" | undefined> {
  const start = await journal.skim(sequence, { timeoutMs });
  if (start === undefined) return undefined;
  const batch = start.subarray(HEADER_BYTES);
  const hasIndex =
    sizeBytes % 2 === 0 && batchLength(batch, 0) !== undefined && batch.length >= BATCH_HEAD_BYTES;
  if (hasIndex && batch.length >= headLength(batch) && !holdsWanted(batch, wanted)) return "skip";
  return journal.read(sequence, { timeoutMs });
}

function trimmed(journal: JournalObjects, sequence: number, floor: number): JournalError {
  return new JournalError(
    "JOURNAL_TRIMMED",
    `${journal.place} begins at batch ${floor}: batch ${sequence} was trimmed`,
  );
}
