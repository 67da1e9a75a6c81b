/**
 * Takes the files that a search shows and packs each at once, within what one answer may hold. It begins when the node has memory for them; until then it keeps what was found only while there is
 * room for that too, and otherwise lets the search be made again.
 */
import {
  bytesOfFile,
  bytesOfLine,
  type FileMatch,
  type FileTaker,
  type LineMatch,
  type ListedFile,
} from "../engine/index.ts";
import type { AnswerMemory, HeldAnswer } from "./answer-memory.ts";
import { FilePacker } from "./packed-files.ts";

export interface TakerPorts {
  readonly answers: AnswerMemory;
  /** Of what was found, until it is shown. */
  readonly found: AnswerMemory;
  /** Undefined when there is no memory in time. */
  readonly hold: (bytes: number) => Promise<HeldAnswer | undefined>;
  readonly signal: AbortSignal;
}

export class PackingTaker implements FileTaker {
  /** All that were given to it, those that did not fit included. */
  readonly taken: ListedFile[] = [];
  readonly #ports: TakerPorts;
  #foundHeld: HeldAnswer | undefined;
  #held: HeldAnswer | undefined;
  #packer = new FilePacker();
  #bytes = 0;
  #partial: "answer-bytes" | "answer-memory" | undefined;
  #againBytes: number | undefined;

  /** `foundHeld`: memory for what will be found, when it is known how much that is. */
  constructor(ports: TakerPorts, foundHeld?: HeldAnswer) {
    this.#ports = ports;
    this.#foundHeld = foundHeld;
  }

  get partial(): "answer-bytes" | "answer-memory" | undefined {
    return this.#partial;
  }

  /** What was found was too much to wait with: it is to be searched for again when there is memory for so much. */
  get againBytes(): number | undefined {
    return this.#againBytes;
  }

  async begin(bytes: number, foundBytes: number): Promise<boolean> {
    if (bytes === 0) return true;
    const { answers, found, hold, signal } = this.#ports;
    this.#foundHeld ??= await found.hold(foundBytes, 0, signal);
    if (this.#foundHeld === undefined) this.#againBytes = foundBytes;
    else this.#held = await hold(bytes);
    if (this.#held === undefined) this.#partial = "answer-memory";
    else this.#packer = new FilePacker(answers.buffer(bytes), answers.answerBytesMax);
    return this.#held !== undefined;
  }

  /** Counts as the search does, so the file that went beyond is seen here, and it and those after it are told to be missing. */
  async take(file: FileMatch): Promise<void> {
    this.taken.push({ path: file.path, language: file.language });
    this.#bytes += bytesOfFile(file);
    if (this.#partial !== undefined) return;
    if (!this.#fits() || !(await this.#packer.add(file))) this.#partial = "answer-bytes";
  }

  /** A file of which not all fits is missing as a whole. */
  async more(lines: readonly LineMatch[]): Promise<void> {
    for (const line of lines) this.#bytes += bytesOfLine(line);
    if (this.#partial !== undefined) return;
    if (this.#fits() && (await this.#packer.more(lines))) return;
    this.#packer.forgetLast();
    this.#partial = "answer-bytes";
  }

  #fits(): boolean {
    return this.#bytes <= this.#ports.answers.answerBytesMax;
  }

  finish(): Uint8Array {
    const { packed } = this.#packer;
    this.#held?.resize(packed.length);
    return packed;
  }

  /** The search is over, and nothing of what it found is kept any more. */
  ended(): void {
    this.#foundHeld?.release();
    this.#foundHeld = undefined;
  }

  /** `reusable`: what was packed has been copied by whoever reads it. */
  release(reusable: boolean): void {
    this.#held?.release(reusable ? this.#packer.buffer : undefined);
  }
}
