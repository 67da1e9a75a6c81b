/**
 * The end of a journal in objects: where it is, what is known there, and how somebody who is not the writer takes a place at it.
 *
 * A busy writer takes one sequence after the other, as fast as puts go, and whoever reads the end before putting behind it comes too late every time. So a claim
 * that failed once is put well ahead of the writer, and the sequences that this leaves free are filled with copies of it. The writer puts in order and stops at
 * the first copy that it meets; whatever it put before counts. A claim whose maker died before the gap was filled is finished by whoever finds it.
 */
import { compareEpochs, NO_EPOCH, type Epoch } from "@keelson/kernel";
import { JournalError } from "../errors.ts";
import { FenceMap } from "../format/fences.ts";
import type { SegmentHeader } from "../format/segment-header.ts";
import { encodeFence, type JournalObjects, type Mark, type Segment, type Slot } from "./segments.ts";

const FIRST_LEAP = 16;
const READS_AT_A_TIME = 16;

export interface Tail {
  /** The first free sequence. */
  readonly next: number;
  /** The sequence of the last opening; 0 when nobody opened the journal yet. */
  readonly opening: number;
  /** The highest that anybody opened it with. */
  readonly epoch: Epoch;
  readonly fences: FenceMap;
}

/** Reads the end, and fills what an interrupted claim left free. */
export async function readTail(journal: JournalObjects, timeoutMs: number): Promise<Tail> {
  for (;;) {
    const slots = await listSlots(journal, timeoutMs);
    // After the listing: what was trimmed by then is below this, and what was listed is not lost for having been trimmed since.
    const floor = await journal.floor({ timeoutMs });
    if (await fillGaps(journal, slots, floor, timeoutMs)) continue;
    const tail = await tailOf(journal, slots, floor, timeoutMs);
    if (tail !== undefined) return tail;
  }
}

/** Undefined when something was trimmed since it was listed: then there is more behind it by now. */
async function tailOf(
  journal: JournalObjects,
  slots: readonly Slot[],
  floor: number,
  timeoutMs: number,
): Promise<Tail | undefined> {
  const last = slots.at(-1);
  if (last === undefined)
    return { next: Math.max(1, floor), opening: 0, epoch: NO_EPOCH, fences: new FenceMap() };
  const segment = await journal.read(last.sequence, { timeoutMs });
  if (segment === undefined) return undefined;
  const pointed = segment.header.opening;
  const opening =
    segment.kind === "opening" || pointed === 0 ? segment : await journal.read(pointed, { timeoutMs });
  const since = opening?.header.opening ?? pointed;
  const marks = await readMarks(
    journal,
    slots.filter(({ sequence }) => sequence >= since),
    timeoutMs,
  );
  const fences = new FenceMap();
  let newest: SegmentHeader | undefined;
  for (const mark of marks) {
    fences.add(mark.fences);
    // An opening below a higher epoch never came to write.
    if (
      mark.kind === "opening" &&
      mark.header.further === 0 &&
      (newest === undefined || compareEpochs(mark.header.epoch, newest.epoch) >= 0)
    )
      newest = mark.header;
  }
  return {
    // The last batch may have been trimmed, but its sequence is not used again.
    next: Math.max(last.sequence + 1, floor),
    opening: newest?.sequence ?? 0,
    epoch: newest?.epoch ?? NO_EPOCH,
    fences,
  };
}

/**
 * Puts an opening or a fence at the end of the journal, for good: afterwards every sequence up to it is taken. Gives its sequence, and what others had put
 * between `from` and it.
 */
export async function claim(
  journal: JournalObjects,
  from: number,
  make: (sequence: number, further: number) => Buffer,
  timeoutMs: number,
): Promise<{ sequence: number; between: Segment[] }> {
  let sequence = from;
  for (
    let leap = FIRST_LEAP;
    (await journal.put(sequence, make(sequence, 0), { timeoutMs })) === "exists";
    leap *= 2
  )
    sequence += leap;
  const between = await fill(journal, from, sequence, make, timeoutMs);
  return { sequence, between };
}

/** Fills the sequences after an opening or fence that belong to it; gives what others had put under them. */
export function fillBehind(journal: JournalObjects, mark: Mark, timeoutMs: number): Promise<Segment[]> {
  const { sequence, further } = mark.header;
  return fill(journal, sequence + 1, sequence + further + 1, (each) => copyOf(mark, each), timeoutMs);
}

/** Puts something under every free sequence from `from` to before `to`; gives what was there already. */
async function fill(
  journal: JournalObjects,
  from: number,
  to: number,
  make: (sequence: number, further: number) => Buffer,
  timeoutMs: number,
): Promise<Segment[]> {
  const found = await Promise.all(
    Array.from({ length: to - from }, async (_, n) => {
      const each = from + n;
      if ((await journal.put(each, make(each, to - each), { timeoutMs })) === "created") return undefined;
      return journal.read(each, { timeoutMs });
    }),
  );
  return found.filter((segment) => segment !== undefined);
}

/** Whether there was one. Below the floor only openings and fences are left, with gaps between them that mean nothing. */
async function fillGaps(
  journal: JournalObjects,
  slots: readonly Slot[],
  floor: number,
  timeoutMs: number,
): Promise<boolean> {
  let expected = Math.max(1, floor);
  for (const { sequence, sizeBytes } of slots.filter((slot) => slot.sequence >= expected)) {
    if (sequence > expected) {
      const mark = sizeBytes % 2 === 1 ? await journal.read(sequence, { timeoutMs }) : undefined;
      if (mark === undefined || mark.kind === "data") {
        // Trimming may have removed what was listed a moment ago.
        if ((await journal.floor({ timeoutMs })) > floor) return true;
        throw new JournalError(
          "JOURNAL_CORRUPT",
          `${journal.place} is damaged: batch ${expected} is missing`,
        );
      }
      await fill(journal, expected, sequence, (each) => copyOf(mark, each), timeoutMs);
      return true;
    }
    expected = sequence + 1;
  }
  return false;
}

/** The same opening or fence, for an earlier or later sequence of those that belong to it. */
function copyOf({ header, fences }: Mark, sequence: number): Buffer {
  const end = header.sequence + header.further;
  return encodeFence({ ...header, sequence, further: end - sequence }, fences);
}

async function listSlots(journal: JournalObjects, timeoutMs: number): Promise<Slot[]> {
  const slots: Slot[] = [];
  for await (const slot of journal.slots(1, { timeoutMs })) slots.push(slot);
  return slots;
}

/** The openings and fences among these, in order. */
async function readMarks(
  journal: JournalObjects,
  slots: readonly Slot[],
  timeoutMs: number,
): Promise<Mark[]> {
  const odd = slots.filter(({ sizeBytes }) => sizeBytes % 2 === 1);
  const marks: Mark[] = [];
  for (let at = 0; at < odd.length; at += READS_AT_A_TIME) {
    const some = odd.slice(at, at + READS_AT_A_TIME);
    // oxlint-disable-next-line no-await-in-loop -- a bounded number at a time.
    const read = await Promise.all(some.map(({ sequence }) => journal.read(sequence, { timeoutMs })));
    for (const segment of read) if (segment !== undefined && segment.kind !== "data") marks.push(segment);
  }
  return marks;
}
