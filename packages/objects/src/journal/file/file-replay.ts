/** Gives the batches of a journal in files again, in order, those of ended writers up to where they count. It holds one piece of a file in memory. */
import type { Epoch, Random } from "@keelson/kernel";
import { compareEpochs } from "@keelson/kernel";
import type { JournalBatch } from "../contract.ts";
import { JournalError } from "../errors.ts";
import { decodeBatch, type RecordFilter } from "../format/batch.ts";
import { FenceFiles, type Generation, type StreamCut } from "./fence-files.ts";
import { JournalFolder, type SegmentFile } from "./journal-folder.ts";
import { scanSegment } from "./segment-scan.ts";

export interface FileReplayOptions {
  readonly folder: string;
  /** The first sequence to give; all there is when not given. */
  readonly from?: number | undefined;
  readonly wanted: (stream: string) => boolean;
  readonly random: Random;
}

export async function* replayFiles(options: FileReplayOptions): AsyncGenerator<JournalBatch> {
  const folder = new JournalFolder(options.folder, options.random);
  const files = new FenceFiles(folder);
  const all = await files.all();
  const generations = await files.generations(all);
  const cuts = await files.streamCuts(all, generations);
  const { segments, floor } = await folder.contents();
  if (options.from !== undefined && options.from < floor)
    throw new JournalError(
      "JOURNAL_TRIMMED",
      `${folder.path} begins at batch ${floor}: batch ${options.from} was trimmed`,
    );
  const from = Math.max(options.from ?? 0, floor);
  for (const generation of generations) {
    if (generation.end <= from) continue;
    const own = segments.filter(
      ({ opening, first }) => opening === generation.opening && first < generation.end,
    );
    yield* replayGeneration(own, generation, from, cuts, options.wanted, folder.path);
  }
}

async function* replayGeneration(
  segments: readonly SegmentFile[],
  { start, end }: Generation,
  from: number,
  cuts: readonly StreamCut[],
  wanted: (stream: string) => boolean,
  place: string,
): AsyncGenerator<JournalBatch> {
  const begin = Math.max(start, from);
  // The last file that begins at or before the first batch to give.
  const first = Math.max(
    0,
    segments.findLastIndex((each) => each.first <= begin),
  );
  let expected = segments[first]?.first ?? start;
  if (expected > begin) throw missing(place, begin);
  for (const segment of segments.slice(first)) {
    if (segment.first !== expected) throw missing(place, expected);
    for await (const { identity, bytes } of scanSegment(segment, end)) {
      expected = identity.sequence + 1;
      if (identity.sequence < begin) continue;
      const batch = decodeBatch(bytes, identity, filterOf(cuts, identity.sequence, wanted));
      if (batch.records.length > 0) yield batch;
    }
  }
  if (end !== Infinity && expected < end) throw missing(place, expected);
}

/** Records of a fenced stream do not count from the cut on, unless they bear the new epoch. */
function filterOf(
  cuts: readonly StreamCut[],
  sequence: number,
  wanted: (stream: string) => boolean,
): RecordFilter {
  const passed = cuts.filter((cut) => sequence >= cut.sequence);
  if (passed.length === 0) return wanted;
  return (stream: string, epoch: Epoch) =>
    wanted(stream) &&
    !passed.some(({ fences }) =>
      fences.some((fence) => fence.stream === stream && compareEpochs(epoch, fence.epoch) < 0),
    );
}

function missing(place: string, sequence: number): JournalError {
  return new JournalError("JOURNAL_CORRUPT", `${place} is damaged: batch ${sequence} is missing`);
}
