/**
 * Asks a fleet the same exhaustive question over and over, and judges every answer: a whole one must be exactly right, one that lacks something must say what, and be exactly
 * right for the rest.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, CodeProcesses } from "./code-processes.ts";

export interface LoadFigures {
  whole: number;
  /** Answers that said that something was missing. */
  partial: number;
  failed: string[];
  wrong: string[];
  /** Why things were missing. */
  readonly codes: Map<string, number>;
  /** When the last answer that was not whole came. */
  lastPartialAt: number;
}

export class QueryLoad {
  readonly figures: LoadFigures = {
    whole: 0,
    partial: 0,
    failed: [],
    wrong: [],
    codes: new Map(),
    lastPartialAt: -Infinity,
  };
  readonly #fleet: CodeProcesses;
  /** Files that match, by repository. */
  readonly #expected: ReadonlyMap<string, number>;
  #stopped = false;
  readonly #running: Promise<void>[];

  constructor(fleet: CodeProcesses, expected: ReadonlyMap<string, number>, clients: number) {
    this.#fleet = fleet;
    this.#expected = expected;
    this.#running = Array.from({ length: clients }, () => this.#ask());
  }

  async stop(): Promise<LoadFigures> {
    this.#stopped = true;
    await Promise.all(this.#running);
    return this.figures;
  }

  async #ask(): Promise<void> {
    while (!this.#stopped) {
      try {
        this.#judge(await this.#fleet.search("common_needle", { MaxDocDisplayCount: 1 }));
      } catch (error) {
        this.figures.failed.push(String(error));
      }
      await sleep(20);
    }
  }

  #judge(answer: Answer): void {
    const { figures } = this;
    let due = 0;
    const missing = new Set(answer.Missing.map(({ Repository }) => Repository));
    for (const [repository, files] of this.#expected) if (!missing.has(repository)) due += files;
    if (answer.FileCount !== due)
      figures.wrong.push(`${answer.FileCount} files, and ${due} were due with ${missing.size} missing`);
    if (answer.Limits.length > 0) figures.wrong.push(JSON.stringify(answer.Limits));
    if (answer.Missing.length === 0) figures.whole++;
    else {
      figures.partial++;
      figures.lastPartialAt = performance.now();
      for (const { Code } of answer.Missing) figures.codes.set(Code, (figures.codes.get(Code) ?? 0) + 1);
    }
  }
}
