/**
 * A byte of an index that changes in the memory of a running node is found by the checksums, and the index is built again. The byte is really changed, from outside, through
 * the operating system's window on the process.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import type { CodeRun, Trial } from "./code-run.ts";
import { eventually } from "./eventually.ts";

/** Requires a run whose nodes look at their checksums every few seconds. */
export async function flipTrial(run: CodeRun): Promise<Trial> {
  const { fleet, terms } = run;
  const name = "repo7";
  const holder = (await run.settled()).get(name) ?? "";
  const before = await run.sum("code_indexes_corrupt_total");
  const pid = fleet.nodes.get(holder)?.pid;
  if (pid === undefined) return { figures: {}, broken: [`${name} has no holder: ${holder}`] };
  const flipped = flip(pid, Buffer.from(`line 20 of ${name} with some words to fill it`));
  run.say(`${flipped} bytes of ${name} flipped in the memory of ${holder}`);
  if (flipped === 0) return { figures: { flipped }, broken: ["its text was not found in memory"] };
  const startedAt = performance.now();
  await eventually(
    "the flipped byte is found",
    async () => (await run.sum("code_indexes_corrupt_total")) > before,
    terms.stepMs,
  );
  const foundMs = performance.now() - startedAt;
  await eventually(
    "it is built again",
    async () => {
      const { FileCount, Missing } = await fleet.search(
        `"line 20 of ${name} with some words" repo:^${name}$`,
      );
      return Missing.length === 0 && FileCount === run.expected.get(name);
    },
    terms.stepMs,
  );
  return {
    figures: { flipped, flipFoundMs: foundMs, flipMendedMs: performance.now() - startedAt },
    broken: [],
  };
}

const pieceBytes = 8 << 20;

/** Changes one byte of every copy of a text in the writable memory of a process. Returns how many. */
function flip(pid: number, text: Buffer): number {
  const memory = openSync(`/proc/${pid}/mem`, "r+");
  let flipped = 0;
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === undefined || to === undefined) continue;
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += pieceBytes)
        flipped += flipIn(memory, at, Math.min(pieceBytes + text.length, end - at), text);
    }
  } finally {
    closeSync(memory);
  }
  return flipped;
}

function flipIn(memory: number, at: number, bytes: number, text: Buffer): number {
  const piece = Buffer.alloc(bytes);
  let read = 0;
  try {
    read = readSync(memory, piece, 0, bytes, at);
  } catch {
    // A region that cannot be read holds no index.
    return 0;
  }
  let flipped = 0;
  for (
    let found = piece.indexOf(text);
    found !== -1 && found < read;
    found = piece.indexOf(text, found + 1)
  ) {
    writeSync(memory, Buffer.from([piece[found]! ^ 1]), 0, 1, at + found);
    flipped++;
  }
  return flipped;
}
