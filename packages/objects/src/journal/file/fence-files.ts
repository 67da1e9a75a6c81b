/**
 * Fences of a journal in files, and the cuts that go with them. A fence is a numbered file; making number n + 1 is what ends the writers and streams that it
 * names, because a writer looks for it after every sync and before it acknowledges anything. So whatever was acknowledged was in the files before
 * the fence was made. What the files hold of an ended writer is decided once, after the fence, and written down as the cut: batches from there on do not count,
 * even if the ended writer, still unaware, adds to them.
 */
import { open } from "node:fs/promises";
import type { Epoch } from "@keelson/kernel";
import type { StreamFence } from "../contract.ts";
import { JournalError } from "../errors.ts";
import { FenceMap, decodeFences, encodeFences } from "../format/fences.ts";
import { HEADER_BYTES, decodeHeader, encodeHeader, type SegmentHeader } from "../format/segment-header.ts";
import type { JournalFolder } from "./journal-folder.ts";
import { scanSegment } from "./segment-scan.ts";

export interface Fence {
  readonly header: SegmentHeader;
  readonly fences: readonly StreamFence[];
}

/** A writer's time: from its opening to the next one's. */
export interface Generation {
  /** The number of its opening fence. */
  readonly opening: number;
  readonly epoch: Epoch;
  /** Its first batch has this sequence. */
  readonly start: number;
  /** The first sequence that does not count any more; Infinity for the last one. */
  readonly end: number;
}

export interface StreamCut {
  readonly fences: readonly StreamFence[];
  readonly sequence: number;
}

export class FenceFiles {
  readonly #folder: JournalFolder;

  constructor(folder: JournalFolder) {
    this.#folder = folder;
  }

  async read(number: number): Promise<Fence | undefined> {
    const path = this.#folder.fencePath(number);
    const bytes = await this.#folder.read(path);
    return bytes === undefined ? undefined : decodeFence(bytes, path);
  }

  /** False when that number is taken. */
  create(fence: Fence): Promise<boolean> {
    const bytes = Buffer.concat([encodeHeader(fence.header), encodeFences(fence.fences)]);
    return this.#folder.create(this.#folder.fencePath(fence.header.sequence), bytes);
  }

  /** All fences in order. */
  async all(): Promise<Fence[]> {
    const { fences } = await this.#folder.contents();
    const read = await Promise.all(fences.map((number) => this.read(number)));
    return read.filter((fence) => fence !== undefined);
  }

  /** The generations of a journal, in order, with all cuts decided but that of the last one's end. */
  async generations(all: readonly Fence[]): Promise<Generation[]> {
    const openings = all.filter(({ header }) => header.kind === "opening");
    const generations: Generation[] = [];
    for (const { header } of openings) {
      const last = generations.at(-1);
      // oxlint-disable-next-line no-await-in-loop -- each begins where the one before ends.
      const start = await this.cut(header, last);
      if (last !== undefined) generations[generations.length - 1] = { ...last, end: start };
      generations.push({ opening: header.sequence, epoch: header.epoch, start, end: Infinity });
    }
    return generations;
  }

  /** Until where streams that were fenced while somebody else wrote the journal count. */
  async streamCuts(all: readonly Fence[], generations: readonly Generation[]): Promise<StreamCut[]> {
    const fences = all.filter(({ header }) => header.kind === "fence");
    return Promise.all(
      fences.map(async ({ header, fences: streams }) => {
        const during = generations.findLast(({ opening }) => opening < header.sequence);
        return { fences: streams, sequence: await this.cut(header, during) };
      }),
    );
  }

  /** The cut of a fence: decided by whoever asks first, from what `ended` has in the files, and the same for everybody ever after. */
  async cut(fence: SegmentHeader, ended: Generation | undefined): Promise<number> {
    const path = this.#folder.cutPath(fence.sequence);
    const known = await this.#readCut(path);
    if (known !== undefined) return known;
    const sequence = await this.#endOf(ended);
    const header = encodeHeader({ ...fence, kind: "cut", sequence });
    if (await this.#folder.create(path, header)) return sequence;
    return (await this.#readCut(path)) ?? sequence;
  }

  /** The sequence after the last whole batch of a generation. All that is seen of it is made durable, because its writer may not have come to that. */
  async #endOf(generation: Generation | undefined): Promise<number> {
    if (generation === undefined) return 1;
    const { segments } = await this.#folder.contents();
    const last = segments.findLast(
      ({ opening, first }) => opening === generation.opening && first < generation.end,
    );
    if (last === undefined) return generation.start;
    let end = last.first;
    for await (const { identity } of scanSegment(last, generation.end)) end = identity.sequence + 1;
    const file = await open(last.path, "r");
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    return end;
  }

  async #readCut(path: string): Promise<number | undefined> {
    const bytes = await this.#folder.read(path);
    if (bytes === undefined) return undefined;
    const header = decodeHeader(bytes, path);
    if (header?.kind !== "cut") throw new JournalError("JOURNAL_CORRUPT", `${path} is damaged`);
    return header.sequence;
  }
}

/** The streams that fences forbid: those an opening repeats, and those since. */
export function knownFences(all: readonly Fence[]): FenceMap {
  const known = new FenceMap();
  const from = all.findLastIndex(({ header }) => header.kind === "opening");
  for (const { fences } of all.slice(Math.max(0, from))) known.add(fences);
  return known;
}

export function decodeFence(bytes: Buffer, path: string): Fence {
  const header = decodeHeader(bytes, path);
  if (header?.kind !== "opening" && header?.kind !== "fence")
    throw new JournalError("JOURNAL_CORRUPT", `${path} is damaged: it is no fence`);
  return { header, fences: decodeFences(bytes.subarray(HEADER_BYTES), path) };
}
