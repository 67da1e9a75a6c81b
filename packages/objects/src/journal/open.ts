/**
 * A journal's front door. Where objects are files of this machine, a journal appends to files of its own beside them; elsewhere it puts one object per flush. What
 * it promises is the same.
 */
import { compareEpochs, NO_EPOCH, type Epoch } from "@keelson/kernel";
import type { Objects } from "../contract.ts";
import { keyPath } from "../folder/names.ts";
import { checkKey } from "../keys.ts";
import {
  JOURNAL_DEFAULTS,
  OBJECT_JOURNAL_DEFAULTS,
  type Journal,
  type JournalBatch,
  type JournalPorts,
  type JournalTerms,
  type StreamFence,
} from "./contract.ts";
import { FenceFiles, knownFences } from "./file/fence-files.ts";
import { FileLog } from "./file/file-log.ts";
import { replayFiles } from "./file/file-replay.ts";
import { JournalFolder } from "./file/journal-folder.ts";
import { GroupCommit } from "./group-commit.ts";
import { ObjectLog } from "./object/object-log.ts";
import { replayObjects } from "./object/object-replay.ts";
import { JournalObjects, encodeFence } from "./object/segments.ts";
import { claim, readTail } from "./object/tail.ts";
import { drawWriter } from "./writer.ts";

export interface OpenJournalOptions extends JournalPorts {
  /** Spelled like an object's key; one journal has one name, whoever writes it. */
  readonly name: string;
  readonly epoch: Epoch;
  readonly terms?: Partial<JournalTerms>;
  /** Runs something after what is ready now has run; `setImmediate` when not given. */
  readonly soon?: (run: () => void) => void;
}

/** Opens a journal for appending, and ends every earlier writer of it. Throws JOURNAL_FENCED when one had a higher epoch. */
export async function openJournal(objects: Objects, options: OpenJournalOptions): Promise<Journal> {
  const { name, epoch, clock, random, soon = setImmediate } = options;
  checkKey(name);
  const { journalFolder } = objects;
  const defaults = journalFolder === undefined ? OBJECT_JOURNAL_DEFAULTS : JOURNAL_DEFAULTS;
  const terms = { ...defaults, ...options.terms };
  const log =
    journalFolder === undefined
      ? await ObjectLog.open({ objects, name, epoch, clock, random, flushTimeoutMs: terms.flushTimeoutMs })
      : await FileLog.open({
          folder: folderOf(journalFolder, name),
          epoch,
          clock,
          random,
          segmentBytes: terms.segmentBytes,
        });
  return new GroupCommit(log, { name, epoch, clock, random, terms, soon });
}

export interface ReadJournalOptions extends Pick<JournalPorts, "random"> {
  readonly name: string;
  /** Only this stream. */
  readonly stream?: string | undefined;
  /** The first sequence to give; all that was not trimmed when not given. */
  readonly from?: number | undefined;
  /** For each request, where requests are made. */
  readonly timeoutMs: number;
}

/** Everything that a journal holds, in order, batch by batch, in bounded memory. Batches without a wanted record are left out. */
export function readJournal(objects: Objects, options: ReadJournalOptions): AsyncGenerator<JournalBatch> {
  const { name, stream, from, random } = options;
  checkKey(name);
  if (objects.journalFolder === undefined) return replayObjects({ ...options, objects });
  const wanted = (each: string): boolean => stream === undefined || each === stream;
  return replayFiles({ folder: folderOf(objects.journalFolder, name), from, wanted, random });
}

export interface FenceStreamsOptions extends JournalPorts {
  readonly name: string;
  readonly streams: readonly StreamFence[];
  readonly timeoutMs: number;
}

/**
 * Ends streams of a journal that another node writes: it acknowledges no record of them under a lower epoch any more, and what it acknowledged before is what
 * `readJournal` gives from now on, the same every time. The journal's other streams go on.
 */
export async function fenceStreams(objects: Objects, options: FenceStreamsOptions): Promise<void> {
  const { name, streams, random } = options;
  checkKey(name);
  if (objects.journalFolder === undefined) await fenceObjects(new JournalObjects(objects, name), options);
  else await fenceFiles(new JournalFolder(folderOf(objects.journalFolder, name), random), streams, random);
}

async function fenceObjects(
  journal: JournalObjects,
  { streams, timeoutMs, random }: FenceStreamsOptions,
): Promise<void> {
  const { next, opening, epoch, fences } = await readTail(journal, timeoutMs);
  if (streams.every((each) => isKnown(fences.list(), each))) return;
  const header = { kind: "fence", opening, epoch, writer: drawWriter(random) } as const;
  const make = (sequence: number, further: number): Buffer =>
    encodeFence({ ...header, sequence, further }, streams);
  await claim(journal, next, make, timeoutMs);
}

async function fenceFiles(
  folder: JournalFolder,
  streams: readonly StreamFence[],
  random: JournalPorts["random"],
): Promise<void> {
  await folder.make();
  const files = new FenceFiles(folder);
  const writer = drawWriter(random);
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- again when the number was taken.
    const all = await files.all();
    const opening = all.findLast(({ header }) => header.kind === "opening")?.header;
    const known = knownFences(all).list();
    const number = (all.at(-1)?.header.sequence ?? 0) + 1;
    const epoch = opening?.epoch ?? NO_EPOCH;
    const header = {
      kind: "fence",
      sequence: number,
      opening: opening?.sequence ?? 0,
      epoch,
      writer,
      further: 0,
    } as const;
    const done =
      streams.every((each) => isKnown(known, each)) ||
      // oxlint-disable-next-line no-await-in-loop -- the same.
      (await files.create({ header, fences: streams }));
    if (!done) continue;
    // Decides what counts, now that nothing more is acknowledged.
    // oxlint-disable-next-line no-await-in-loop -- once.
    const again = await files.all();
    // oxlint-disable-next-line no-await-in-loop -- once.
    await files.streamCuts(again, await files.generations(again));
    return;
  }
}

function isKnown(fences: readonly StreamFence[], { stream, epoch }: StreamFence): boolean {
  return fences.some((each) => each.stream === stream && compareEpochs(each.epoch, epoch) >= 0);
}

/** Spelled as an object's file would be, but for its ending. */
function folderOf(journalFolder: string, name: string): string {
  return keyPath(journalFolder, name).file.replace(/\.obj$/, ".journal");
}
