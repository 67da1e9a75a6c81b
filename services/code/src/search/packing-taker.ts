/** Takes the files that a search shows and packs each at once, within what one answer may hold. It begins when the node has memory for them. */
import { bytesOfFile, type FileMatch, type FileTaker, type ListedFile } from "../engine/index.ts";
import type { AnswerMemory, HeldAnswer } from "./answer-memory.ts";
import { FilePacker } from "./packed-files.ts";

export class PackingTaker implements FileTaker {
  /** All that were given to it, those that did not fit included. */
  readonly taken: ListedFile[] = [];
  readonly #answers: AnswerMemory;
  readonly #hold: (bytes: number) => Promise<HeldAnswer | undefined>;
  #held: HeldAnswer | undefined;
  #packer = new FilePacker();
  #bytes = 0;
  #partial: "answer-bytes" | "answer-memory" | undefined;

  constructor(answers: AnswerMemory, hold: (bytes: number) => Promise<HeldAnswer | undefined>) {
    this.#answers = answers;
    this.#hold = hold;
  }

  get partial(): "answer-bytes" | "answer-memory" | undefined {
    return this.#partial;
  }

  async begin(bytes: number): Promise<boolean> {
    if (bytes === 0) return true;
    this.#held = await this.#hold(bytes);
    if (this.#held === undefined) this.#partial = "answer-memory";
    else this.#packer = new FilePacker(this.#answers.buffer(bytes));
    return this.#held !== undefined;
  }

  /** Counts as the search does, so the file that went beyond is seen here, and it and those after it are told to be missing. */
  async take(file: FileMatch): Promise<void> {
    this.taken.push({ path: file.path, language: file.language });
    this.#bytes += bytesOfFile(file);
    if (this.#bytes > this.#answers.answerBytesMax) this.#partial = "answer-bytes";
    else await this.#packer.add(file);
  }

  finish(): Uint8Array {
    const { packed } = this.#packer;
    this.#held?.resize(packed.length);
    return packed;
  }

  /** `reusable`: what was packed has been copied by whoever reads it. */
  release(reusable: boolean): void {
    this.#held?.release(reusable ? this.#packer.buffer : undefined);
  }
}
