/**
 * A journal's batches in files of a folder: appended to one file, synced, and continued in the next file when that is long. After every sync, and before
 * anything is acknowledged, it looks whether somebody made the next fence (see `fence-files.ts`). Looking costs one system call per flush.
 */
import { existsSync, fdatasync, readFileSync, writev, writevSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { compareEpochs, formatEpoch, type Epoch } from "@keelson/kernel";
import { syncFolder } from "../../folder/durable-folders.ts";
import { removeLeftovers } from "../../folder/temp-files.ts";
import type { JournalPorts, StreamFence } from "../contract.ts";
import { JournalError } from "../errors.ts";
import { HEADER_BYTES, encodeHeader } from "../format/segment-header.ts";
import type { BatchBytes, JournalLog, WriteOutcome } from "../log.ts";
import { drawWriter } from "../writer.ts";
import { FenceFiles, decodeFence, knownFences } from "./fence-files.ts";
import { JournalFolder } from "./journal-folder.ts";
import { Runway } from "./runway.ts";
import { removable } from "./trimming.ts";

/** As much goes to the kernel's memory at once, in this thread: that takes less time than asking another thread, and saves a turn of the event loop before the sync. */
const AT_ONCE_BYTES_MAX = 256 * 1024;

export interface FileLogOptions extends JournalPorts {
  readonly folder: string;
  readonly epoch: Epoch;
  readonly segmentBytes: number;
}

interface Opened {
  readonly folder: JournalFolder;
  readonly fence: { readonly number: number; readonly epoch: Epoch; readonly writer: Buffer };
  readonly fences: readonly StreamFence[];
  readonly start: number;
}

export class FileLog implements JournalLog {
  readonly place: string;
  readonly fences: readonly StreamFence[];
  readonly #folder: JournalFolder;
  readonly #opened: Opened;
  readonly #segmentBytes: number;
  #sequence: number;
  #nextFence: number;
  #file: FileHandle | undefined;
  #runway: Runway | undefined;
  #offset = 0;
  #writing: Promise<unknown> = Promise.resolve();

  /** Ends every earlier writer of the journal. Throws JOURNAL_FENCED when one had a higher epoch. */
  static async open(options: FileLogOptions): Promise<FileLog> {
    const { epoch, clock, random } = options;
    const folder = new JournalFolder(options.folder, random);
    await folder.make();
    await removeLeftovers(folder.temporary, clock);
    const files = new FenceFiles(folder);
    const writer = drawWriter(random);
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- again when somebody else fenced at the same time.
      const all = await files.all();
      const former = all.findLast(({ header }) => header.kind === "opening");
      if (former !== undefined && compareEpochs(former.header.epoch, epoch) > 0)
        throw new JournalError(
          "JOURNAL_FENCED",
          `the journal in ${options.folder} was opened with epoch ${formatEpoch(former.header.epoch)}, which is higher than ${formatEpoch(epoch)}`,
        );
      const fences = knownFences(all).list();
      const number = (all.at(-1)?.header.sequence ?? 0) + 1;
      const header = {
        kind: "opening",
        sequence: number,
        opening: number,
        epoch,
        writer,
        further: 0,
      } as const;
      // oxlint-disable-next-line no-await-in-loop -- the same.
      if (!(await files.create({ header, fences }))) continue;
      // oxlint-disable-next-line no-await-in-loop -- once.
      const start = await startOf(files, number);
      const log = new FileLog(
        { folder, fence: { number, epoch, writer }, fences, start },
        options.segmentBytes,
      );
      // oxlint-disable-next-line no-await-in-loop -- once.
      await log.#roll();
      return log;
    }
  }

  private constructor(opened: Opened, segmentBytes: number) {
    this.#opened = opened;
    this.#folder = opened.folder;
    this.place = opened.folder.path;
    this.fences = opened.fences;
    this.#segmentBytes = segmentBytes;
    this.#sequence = opened.start;
    this.#nextFence = opened.fence.number + 1;
  }

  get next(): { sequence: number; opening: number } {
    return { sequence: this.#sequence, opening: this.#opened.fence.number };
  }

  write(batch: BatchBytes): Promise<WriteOutcome> {
    const writing = this.#write(batch);
    this.#writing = writing.catch(() => {
      // Told to whoever called `write`; this is for `close`.
    });
    return writing;
  }

  async trim(sequence: number): Promise<void> {
    const floor = Math.min(sequence, this.#sequence);
    const { floors, floor: known, segments } = await this.#folder.contents();
    if (floor > known) await this.#folder.create(this.#folder.floorPath(floor), Buffer.alloc(0));
    const files = new FenceFiles(this.#folder);
    const generations = await files.generations(await files.all());
    const lower = floors
      .filter((each) => each < Math.max(floor, known))
      .map((each) => this.#folder.floorPath(each));
    await this.#folder.remove([...removable(segments, generations, floor), ...lower]);
  }

  async close(): Promise<void> {
    const [file, runway] = [this.#file, this.#runway];
    this.#file = undefined;
    await this.#writing;
    await runway?.stop();
    await file?.close();
  }

  async #write({ head, records }: BatchBytes): Promise<WriteOutcome> {
    if (this.#offset >= this.#segmentBytes && this.#offset > HEADER_BYTES) await this.#roll();
    const fd = this.#file?.fd;
    if (fd === undefined) throw new JournalError("JOURNAL_CLOSED", `the journal in ${this.place} was closed`);
    const end = this.#offset + head.length + records.length;
    await this.#runway?.until(end);
    await appendDurably(fd, [head, records], this.#offset);
    this.#offset = end;
    this.#runway?.filled(end);
    this.#sequence += 1;
    return { durable: true, fenced: this.#newFences() };
  }

  /** What fences were made since the last look. */
  #newFences(): "journal" | readonly StreamFence[] {
    const fenced: StreamFence[] = [];
    for (;;) {
      const path = this.#folder.fencePath(this.#nextFence);
      if (!existsSync(path)) return fenced;
      const { header, fences } = decodeFence(readFileSync(path), path);
      if (header.kind === "opening") return "journal";
      fenced.push(...fences);
      this.#nextFence += 1;
    }
  }

  /** Begins a new file. It is durable, name and all, before anything in it is. */
  async #roll(): Promise<void> {
    const { number, epoch, writer } = this.#opened.fence;
    const sequence = this.#sequence;
    const header = encodeHeader({ kind: "data", sequence, opening: number, epoch, writer, further: 0 });
    const path = this.#folder.segmentPath(sequence, number);
    const file = await open(path, "wx", 0o644);
    try {
      await file.write(header, 0, header.length, 0);
      await file.datasync();
      await syncFolder(this.#folder.path);
    } catch (error) {
      await file.close();
      throw error;
    }
    await this.#runway?.stop();
    await this.#file?.close();
    this.#file = file;
    this.#runway = new Runway(path, header.length, this.#segmentBytes);
    this.#offset = header.length;
  }
}

/** Where the batches of the generation begin that this fence opened. */
async function startOf(files: FenceFiles, number: number): Promise<number> {
  const generations = await files.generations(await files.all());
  return generations.find(({ opening }) => opening === number)?.start ?? 1;
}

/** The callback forms of these calls cost a third of what the promise forms do. */
function appendDurably(fd: number, parts: readonly Buffer[], at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const sync = (): void => fdatasync(fd, (failure) => (failure === null ? resolve() : reject(failure)));
    const write = (left: readonly Buffer[], position: number): void => {
      writev(fd, left, position, (error, written) => {
        if (error !== null) return reject(error);
        const rest = without(left, written);
        if (rest.length > 0) write(rest, position + written);
        else sync();
      });
    };
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const written = bytes <= AT_ONCE_BYTES_MAX ? writevSync(fd, parts, at) : 0;
    if (written === bytes) sync();
    else write(without(parts, written), at + written);
  });
}

/** What is left of the parts after so many bytes; as a rule nothing. */
function without(parts: readonly Buffer[], written: number): Buffer[] {
  const rest: Buffer[] = [];
  let skip = written;
  for (const part of parts) {
    if (skip < part.length) rest.push(part.subarray(skip));
    skip = Math.max(0, skip - part.length);
  }
  return rest;
}
