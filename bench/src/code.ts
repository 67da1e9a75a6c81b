/**
 * Code search on real source, beside ripgrep and Debian's codesearch in the same run: what building the index costs from bytes in memory, how much memory all of it takes,
 * whether every answer is ripgrep's line for line, and what answers cost in CPU over HTTP with JSON. Expressions match within lines, as in both peers.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { stepHelpersBack } from "@keelson/code/engine";
import type { Bench, BenchContext } from "./bench.ts";
import { CodeServer, measureBuild, measurePush } from "./code/code-server.ts";
import { corpusBytes, ensureCorpus } from "./code/corpus.ts";
import { differences } from "./code/differences.ts";
import { cindex, ensurePeers, linesOfRipgrep, ripgrep, timed } from "./code/peers.ts";
import { hostile } from "./code/hostile.ts";
import { readQueries } from "./code/queries.ts";
import { rustSyntax } from "./code/rust-syntax.ts";
import type { Stall } from "./code/stalls.ts";
import { median } from "./median.ts";
import { wholeNumber } from "./options.ts";

/** Queries with at most so many lines are what people wait for at a prompt. */
const SELECTIVE_LINES_MAX = 1_000;
const SELECTIVE_RUNS = 15;
/** Before the first: a process that has just started takes three times as long to answer, until what it runs again and again is compiled. It matters here for whoever asks, too. The first hundred have a figure of their own. */
const WARM_RUNS = 400;
/** Found nowhere. */
const WARM_QUERY = "nobody_wrote_this_anywhere";
const ASKING_NICENESS = 10;
const HOSTILE_CAP_MS = 1_000;
const CINDEX_RUNS = 3;
/**
 * A query that costs less is asked several times in a row, here and there, and what that took is divided: a process of three milliseconds cannot be measured with a clock that drops what is below one, and
 * asking how much was used costs a few tenths too.
 */
const MEASURED_CPU_MS = 30;
const ASKED_IN_A_ROW_MAX = 10;
/** What the engine may take. It is reserved, not used; an index takes some 1.3 bytes for a byte, and another while it is built. */
const MEMORY_BYTES_MIN = 4_000_000_000;
const MEMORY_PER_BYTE = 2;
const code: Bench = {
  name: "code",
  title: "code search: index build, memory and queries, beside ripgrep and Debian's codesearch",
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        corpus: { type: "string" },
        queries: { type: "string" },
        runs: { type: "string", default: "3" },
      },
    });
    const runs = wholeNumber("runs", values.runs, 1, 100);
    await ensurePeers(context.progress);
    const corpus =
      values.corpus === undefined ? await ensureCorpus(context.progress) : resolve(values.corpus);
    const queries = await readQueries(values.queries);
    const memoryBytes = Math.max(MEMORY_BYTES_MIN, MEMORY_PER_BYTE * (await corpusBytes(corpus)));
    const folder = mkdtempSync(join(tmpdir(), "keelson-bench-"));
    try {
      return await measure(context, { corpus, queries, runs, folder, memoryBytes });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export default code;

interface Terms {
  readonly corpus: string;
  readonly queries: readonly string[];
  readonly runs: number;
  readonly folder: string;
  readonly memoryBytes: number;
}

async function measure({ progress }: BenchContext, terms: Terms) {
  progress("building from bytes in memory, four times");
  const build = await measureBuild(terms.corpus, terms.memoryBytes);
  const perSecond = (bytes: number, cpuMs: number): number => round(bytes / 1e3 / cpuMs);
  progress(
    `built ${(build.bytes / 1e6).toFixed(0)} MB in ${(build.cpuMs / 1e3).toFixed(2)} CPU seconds, the first time in ${(build.coldCpuMs / 1e3).toFixed(2)}`,
  );
  const environment = { CSEARCHINDEX: join(terms.folder, "csearch-index") };
  const output = join(terms.folder, "output");
  const indexed: { cpuMs: number; bytes: number }[] = [];
  for (let i = 0; i < CINDEX_RUNS; i += 1) indexed.push(await cindex(terms.corpus, output, environment));
  const peer = indexed.reduce((least, each) => (each.cpuMs < least.cpuMs ? each : least));
  progress(
    `cindex took ${(peer.cpuMs / 1e3).toFixed(2)} CPU seconds for the ${(peer.bytes / 1e6).toFixed(0)} MB that it indexes`,
  );
  const push = await measurePush(terms.corpus, terms.memoryBytes);
  progress(
    `one file of ${(push.bytes / 1e6).toFixed(0)} MB was found ${push.searchableMs.toFixed(0)} ms after it changed`,
  );
  progress("building the index to ask");
  const server = await CodeServer.start(terms.corpus, terms.memoryBytes);
  stepAside();
  try {
    const warming: number[] = [];
    for (let i = 0; i < WARM_RUNS; i += 1) warming.push(await server.wait(WARM_QUERY));
    const asked: Asked[] = [];
    for (const query of terms.queries) asked.push(await ask(server, query, terms, environment, progress));
    const { rssBytes } = await server.usage();
    const hostility = await overruns(server, progress);
    const stalls = [...asked.flatMap((each) => each.stalls), ...hostility.stalls];
    const sum = (pick: (each: Asked) => number): number =>
      round(asked.reduce((total, each) => total + pick(each), 0));
    const selective = asked.flatMap((each) => each.selectiveMs);
    const slower = asked.filter((each) => each.cpuMs >= each.csearchMs);
    for (const { query, cpuMs, csearchMs } of slower)
      progress(`no cheaper than csearch: ${query}: ${round(cpuMs)} ms, csearch ${round(csearchMs)}`);
    const figures = {
      corpusMB: round(build.bytes / 1e6),
      queries: asked.length,
      buildMBPerCpuSec: perSecond(build.bytes, build.cpuMs),
      buildColdMBPerCpuSec: perSecond(build.bytes, build.coldCpuMs),
      indexPerByte: round(build.memoryBytes / build.bytes),
      rssPerByte: round(rssBytes / build.bytes),
      mismatches: asked.reduce((total, each) => total + each.mismatches, 0),
      slowerThanCsearch: slower.length,
      ...(selective.length > 0 ? { selectiveMsP50: round(median(selective)) } : {}),
      firstHundredMsP50: round(median(warming.slice(0, 100))),
      queriesCpuMs: sum((each) => each.cpuMs),
      stallMsMax: worst(stalls),
      stallWithStolenMsMax: round(Math.max(...stalls.map((each) => each.stallWithStolenMs))),
      capOverrunMsMax: round(hostility.overrunMs),
      pushSearchableMs: round(push.searchableMs),
    };
    const broken = [
      ...(figures.mismatches > 0 ? [`${figures.mismatches} lines differ from ripgrep's`] : []),
      ...(figures.rssPerByte > 1.5
        ? [`${figures.rssPerByte} bytes of memory for a byte of source, more than 1.5`]
        : []),
    ];
    return {
      figures,
      peers: {
        cindex: { corpusMB: round(peer.bytes / 1e6), buildMBPerCpuSec: perSecond(peer.bytes, peer.cpuMs) },
        csearch: { queriesCpuMs: sum((each) => each.csearchMs) },
        ripgrep: { queriesCpuMs: sum((each) => each.ripgrepMs) },
      },
      broken,
    };
  } finally {
    await server.stop();
  }
}

/**
 * Who asks is on another machine elsewhere. Here it would take both processors from the process that answers: the threads that collect its garbage alone did, four in turn for 4 ms each. The
 * peers, which start from here, stand as far behind; they have the machine to themselves, and what they use is counted in time of the processor.
 */
function stepAside(): void {
  stepHelpersBack();
  setPriority(ASKING_NICENESS);
}

interface Asked {
  readonly query: string;
  readonly cpuMs: number;
  readonly csearchMs: number;
  readonly ripgrepMs: number;
  readonly mismatches: number;
  /** While it was answered. The peers, who take all processors between questions, hold up everybody. */
  readonly stalls: readonly Stall[];
  /** Waiting times, when the query is selective. */
  readonly selectiveMs: readonly number[];
}

/** The least of several runs on each side: what else the machine does only ever adds. */
async function ask(
  server: CodeServer,
  query: string,
  { corpus, folder, runs }: Terms,
  environment: Readonly<Record<string, string>>,
  progress: (text: string) => void,
): Promise<Asked> {
  const output = join(folder, "output");
  const stalls: Stall[] = [];
  await server.usage(true);
  const { found, partial, lines } = await server.search(query);
  stalls.push(await server.usage());
  const ourCpuMs = async (times: number): Promise<number> => {
    const before = await server.usage(true);
    for (let i = 0; i < times; i += 1) await server.wait(query);
    const after = await server.usage();
    stalls.push(after);
    return (after.cpuMs - before.cpuMs) / times;
  };
  const inARow = Math.ceil(MEASURED_CPU_MS / Math.max(1, await ourCpuMs(1)));
  const times = Math.min(ASKED_IN_A_ROW_MAX, inARow);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < runs; i += 1) {
    ours.push(await ourCpuMs(times));
    const csearch = ["csearch", "-n", "--", query];
    theirs.push((await timed(csearch, output, { cwd: corpus, environment, times })).cpuMs);
  }
  const { cpuMs: ripgrepMs } = await timed(ripgrep(rustSyntax(query)), output, { cwd: corpus });
  const mismatches =
    differences(found, await linesOfRipgrep(output), new Set(server.started.skipped)) +
    (partial === undefined ? 0 : 1);
  const selectiveMs: number[] = [];
  if (lines <= SELECTIVE_LINES_MAX)
    for (let i = 0; i < SELECTIVE_RUNS; i += 1) selectiveMs.push(await server.wait(query));
  const asked = {
    query,
    cpuMs: Math.min(...ours),
    csearchMs: Math.min(...theirs),
    ripgrepMs,
    mismatches,
    stalls,
    selectiveMs,
  };
  progress(
    `${query}: ${lines} lines, ${mismatches} differ; CPU ms: ours ${round(asked.cpuMs)}, csearch ${round(asked.csearchMs)}, ripgrep ${ripgrepMs.toFixed(0)}; stalled for ${worst(stalls)} ms`,
  );
  return asked;
}

/** How much longer than its time cap the worst expression takes. */
async function overruns(
  server: CodeServer,
  progress: (text: string) => void,
): Promise<{ overrunMs: number; stalls: readonly Stall[] }> {
  let overrunMs = 0;
  const stalls: Stall[] = [];
  for (const pattern of hostile) {
    await server.usage(true);
    const tookMs = await server.wait(pattern, HOSTILE_CAP_MS);
    const stall = await server.usage();
    stalls.push(stall);
    progress(
      `hostile, ${pattern.length} characters: ${tookMs.toFixed(0)} ms of ${HOSTILE_CAP_MS}; stalled for ${worst([stall])} ms`,
    );
    overrunMs = Math.max(overrunMs, tookMs - HOSTILE_CAP_MS);
  }
  return { overrunMs, stalls };
}

function worst(stalls: readonly Stall[]): number {
  return round(Math.max(...stalls.map((each) => each.stallMs)));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
