/** Reads what the processes of a run wrote down, and has it checked. */
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WriteChecks, overlaps, type Violation } from "./checks.ts";
import type { HistoryLine } from "./recorder.ts";
import { TenureSpans } from "./tenures.ts";

export interface HistoryReport {
  readonly violations: readonly Violation[];
  readonly admissions: number;
  readonly tenures: number;
  readonly writesAccepted: number;
  readonly writesRefused: number;
}

/** Files are named after their process: `b-3.jsonl` is the third life of node b. */
export const HISTORY_ENDING = ".jsonl";

export async function checkHistory(folder: string): Promise<HistoryReport> {
  const spans = new TenureSpans();
  const writes = new WriteChecks();
  const counts = { admissions: 0, writesAccepted: 0, writesRefused: 0 };
  const take = (process: string, line: HistoryLine): void => {
    switch (line[0]) {
      case "admitted": {
        const [, ...pass] = line;
        counts.admissions++;
        spans.add(process, pass);
        return;
      }
      case "passing":
        for (const pass of line[1]) spans.add(process, pass);
        return;
      case "raised":
        writes.raised(line[1], { era: line[2], revision: line[3] });
        return;
      case "wrote":
        counts.writesAccepted++;
        writes.wrote(line[1], { era: line[2], revision: line[3] }, line[4]);
        return;
      case "refused":
        counts.writesRefused++;
        return;
    }
  };
  for (const file of await readdir(folder)) {
    if (!file.endsWith(HISTORY_ENDING)) continue;
    const process = file.slice(0, -HISTORY_ENDING.length);
    for await (const line of linesOf(join(folder, file))) take(process, line);
  }
  const violations = [...writes.violations];
  for (const ofShard of spans.byShard()) violations.push(...overlaps(ofShard));
  return { violations, tenures: spans.size, ...counts };
}

/** The last line of a process that was killed may be torn: what it would have told had no effect yet. Any other bad line is an error. */
async function* linesOf(file: string): AsyncIterable<HistoryLine> {
  let torn: string | undefined;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (torn !== undefined) throw new Error(`${file} has a damaged line: ${torn.slice(0, 200)}`);
    const line = parse(text);
    if (line === undefined) torn = text;
    else yield line;
  }
}

function parse(text: string): HistoryLine | undefined {
  try {
    return JSON.parse(text) as HistoryLine;
  } catch {
    return undefined;
  }
}
